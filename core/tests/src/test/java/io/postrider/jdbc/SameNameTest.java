// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In containers every process has the same number, so relays are often called the same: they are not the same. */
class SameNameTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private Party owner;
    private Party namesake;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "relay-1");
        namesake = Party.joining(database, "relay-1");
        namesake.ownership.add(owner.ownership.all());
    }

    @AfterEach
    void close() {
        owner.close();
        namesake.close();
    }

    @Test
    void aNamesakeReadsNothing() {
        long id = database.event("s", "k");
        assertThat(namesake.readIds()).isEmpty();
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void aNamesakeJudgesNothing() {
        long id = database.event("s", "k");
        List<Delivery> taken = owner.read();
        assertThat(namesake.retry(taken, Duration.ofHours(1))).isEmpty();
        assertThat(owner.retry(taken, Duration.ofHours(1))).containsExactly(id);
    }

    @Test
    void aNamesakeTakesAndReleasesNothing() {
        assertThat(namesake.takeAll()).isEmpty();
        namesake.shards.release(namesake.member(), owner.ownership.all());
        assertThat(database.number("SELECT count(*) FROM outbox_shard WHERE owner = " + owner.member()))
                .isEqualTo(256);
    }
}
