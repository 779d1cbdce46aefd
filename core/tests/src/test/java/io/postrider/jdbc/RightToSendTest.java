// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.ShardStore.Wants;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A send may start while nobody else can own the key, however long the renewal itself took. */
class RightToSendTest {
    private static final Duration LEASE = Duration.ofSeconds(8);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    @Test
    void itLastsThreeQuartersOfTheLeaseFromBeforeTheRenewalWasIssued() {
        TestDatabase database = TestDatabase.migrated();
        AtomicLong ticker = new AtomicLong();
        // Every statement takes a second.
        DataSource slow = FailingSource.of(database.dataSource(), () -> ticker.addAndGet(SECOND) < 0);
        OrderedSettings settings = new OrderedSettings("default", List.of(), LEASE, LEASE);
        Ownership ownership = new Ownership();
        OrderedMembership membership = new OrderedMembership(
                "relay",
                Wants.SHARDS,
                new OrderedFeed.Parts(
                        settings,
                        ownership,
                        new ShardStatements(new Session(slow, LEASE), Party.SQL, settings),
                        new Housekeeping(() -> {}, ticker::get)),
                loop -> {
                    throw new IllegalStateException("Nothing is read here");
                },
                ticker::get);
        membership.join();
        long before = ticker.get();
        membership.tick(Party.QUIET);
        assertThat(ticker.get()).isGreaterThan(before);
        assertThat(ownership.mayStart(before + 6 * SECOND - 1)).isTrue();
        assertThat(ownership.mayStart(before + 6 * SECOND)).isFalse();
        membership.leave();
    }
}
