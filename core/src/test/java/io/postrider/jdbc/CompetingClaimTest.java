// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CompetingClaimTest {
    /** Not a constant to the compiler, which would refuse what this is about: a reading of the ticker that runs over. */
    private static final long LEASED_AT = Duration.ofNanos(Long.MAX_VALUE - 500).toNanos();

    private final CompetingClaim claim = new CompetingClaim(LEASED_AT, Duration.ofNanos(1000), true);

    @Test
    void aSendMayStartInThreeQuartersOfTheLease() {
        assertThat(claim.mayStart(LEASED_AT + 749)).isTrue();
        assertThat(claim.mayStart(LEASED_AT + 750)).isFalse();
        claim.extended(LEASED_AT + 500);
        assertThat(claim.mayStart(LEASED_AT + 1249)).isTrue();
        assertThat(claim.mayStart(LEASED_AT + 1250)).isFalse();
    }

    @Test
    void whatIsLostIsNotSent() {
        claim.lost();
        assertThat(claim.mayStart(LEASED_AT)).isFalse();
        assertThat(claim.wantsExtension(LEASED_AT + 600)).isFalse();
        assertThat(claim.mayBeDue(LEASED_AT)).isTrue();
    }

    @Test
    void anExtensionIsDueAfterHalfOfTheLeaseAndTheRowMayBeAfterAllOfIt() {
        assertThat(claim.wantsExtension(LEASED_AT + 499)).isFalse();
        assertThat(claim.wantsExtension(LEASED_AT + 500)).isTrue();
        assertThat(claim.mayBeDue(LEASED_AT + 999)).isFalse();
        assertThat(claim.mayBeDue(LEASED_AT + 1000)).isTrue();
    }
}
