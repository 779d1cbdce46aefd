// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OwnEventsTest {
    private final OwnEvents own = new OwnEvents();

    @Test
    void eachCountsOnceAndOnlyIfItWasAppendedHere() {
        UUID id = UUID.randomUUID();
        own.appended(id);
        own.published(UUID.randomUUID());
        assertThat(own.publishedCount()).isZero();
        own.published(id);
        own.published(id);
        assertThat(own.publishedCount()).isEqualTo(1);
    }

    @Test
    void whatHasFailedIsNotCounted() {
        UUID id = UUID.randomUUID();
        own.appended(id);
        own.failed(id);
        own.published(id);
        assertThat(own.publishedCount()).isZero();
    }

    @Test
    void theLastTenThousandAreKnownAndTheOldestForgotten() {
        List<UUID> ids = new ArrayList<>();
        for (int i = 0; i < 20_001; i++) {
            ids.add(UUID.randomUUID());
            own.appended(ids.get(i));
        }
        own.published(ids.get(0));
        own.published(ids.get(9_999));
        assertThat(own.publishedCount()).as("forgotten").isZero();
        own.published(ids.get(10_000));
        own.published(ids.get(20_000));
        assertThat(own.publishedCount()).isEqualTo(2);
    }
}
