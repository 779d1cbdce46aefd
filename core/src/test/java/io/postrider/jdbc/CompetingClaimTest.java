// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class CompetingClaimTest {
    /** The ticker may wrap around. */
    private final long leasedAt = Long.sum(Long.MAX_VALUE, -500);

    private final CompetingClaim claim = new CompetingClaim(leasedAt, Duration.ofNanos(1000), true);

    @Test
    void aSendMayStartInThreeQuartersOfTheLease() {
        assertThat(claim.mayStart(leasedAt + 749)).isTrue();
        assertThat(claim.mayStart(leasedAt + 750)).isFalse();
        claim.extended(leasedAt + 500);
        assertThat(claim.mayStart(leasedAt + 1249)).isTrue();
        assertThat(claim.mayStart(leasedAt + 1250)).isFalse();
    }

    @Test
    void whatIsLostIsNotSent() {
        claim.lost();
        assertThat(claim.mayStart(leasedAt)).isFalse();
        assertThat(claim.wantsExtension(leasedAt + 600)).isFalse();
        assertThat(claim.mayBeDue(leasedAt)).isTrue();
    }

    @Test
    void anExtensionIsDueAfterHalfOfTheLeaseAndTheRowMayBeAfterAllOfIt() {
        assertThat(claim.wantsExtension(leasedAt + 499)).isFalse();
        assertThat(claim.wantsExtension(leasedAt + 500)).isTrue();
        assertThat(claim.mayBeDue(leasedAt + 999)).isFalse();
        assertThat(claim.mayBeDue(leasedAt + 1000)).isTrue();
    }
}
