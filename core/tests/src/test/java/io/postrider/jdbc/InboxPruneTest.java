// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.internal.InboxSql;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InboxPruneTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcInbox inbox = JdbcInbox.of(database.dataSource());

    @BeforeEach
    void clear() {
        database.execute("TRUNCATE inbox_message");
    }

    @Test
    void whatIsOlderThanTwoWeeksIsForgottenAndNothingElse() {
        note("old", "14 days 1 minute");
        note("young", "13 days 23 hours 59 minutes");
        note("now", "0");
        assertThat(inbox.prune()).isEqualTo(1);
        assertThat(consumers()).isEqualTo("now,young");
        assertThat(inbox.prune()).isZero();
        assertThat(inbox.prune(Duration.ofDays(1))).isEqualTo(1);
        assertThat(consumers()).isEqualTo("now");
    }

    @Test
    void allPagesAreLookedThroughHoweverOldAndNewAreMixed() {
        database.execute("INSERT INTO inbox_message SELECT 'c', gen_random_uuid(),"
                + " clock_timestamp() - (n % 3) * interval '10 days' FROM generate_series(1, 30000) n");
        assertThat(database.number(new InboxSql(TableNames.ofDefaults()).pages))
                .as("more than one batch")
                .isGreaterThan(128);
        assertThat(inbox.prune()).isEqualTo(10_000);
        assertThat(inbox.prune(Duration.ofDays(5))).isEqualTo(10_000);
        assertThat(database.number("SELECT count(*) FROM inbox_message")).isEqualTo(10_000);
    }

    @Test
    void aBatchReadsItsOwnPagesAlone() {
        database.execute("INSERT INTO inbox_message SELECT 'c', gen_random_uuid() FROM generate_series(1, 30000) n");
        String prune = new InboxSql(TableNames.ofDefaults())
                .prune
                .replaceFirst("\\?", "'(64,0)'")
                .replaceFirst("\\?", "'(128,0)'")
                .replaceFirst("\\?", "86400");
        assertThat(String.join("\n", database.column("EXPLAIN " + prune)))
                .contains("Tid Range Scan")
                .doesNotContain("Seq Scan");
    }

    @Test
    void consumersGoOnMeanwhile() throws Exception {
        UUID waits = UUID.randomUUID();
        note("old", "20 days");
        try (OpenTransaction first = database.begin();
                OpenTransaction pruning = database.begin()) {
            inbox.on(first.connection()).once("billing", waits, () -> {});
            // Its transaction stays open here: what it holds, it would hold until its batch is done.
            assertThat(JdbcInbox.of(pruning.dataSource()).prune()).isEqualTo(1);
            AtomicInteger runs = new AtomicInteger();
            assertThat(inbox.transact("billing", UUID.randomUUID(), tx -> runs.incrementAndGet()))
                    .isTrue();
            assertThat(inbox.transact("old", UUID.randomUUID(), tx -> runs.incrementAndGet()))
                    .isTrue();
            first.commit();
            pruning.commit();
        }
        assertThat(inbox.transact("billing", waits, tx -> {})).isFalse();
    }

    @Test
    void anEventThatComesWhileItIsForgottenWaitsForTheBatchAndIsProcessedAgain() throws Exception {
        UUID event = note("billing", "20 days");
        try (OpenTransaction pruning = database.begin()) {
            JdbcInbox.of(pruning.dataSource()).prune();
            Background<Boolean> again = Background.start(() -> inbox.transact("billing", event, tx -> {}));
            pruning.awaitSomebodyBlocked();
            pruning.commit();
            assertThat(again.get()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT23H59M59S", "PT0S", "PT-1H"})
    void lessThanADayIsRefused(String keep) {
        note("old", "20 days");
        assertThatThrownBy(() -> inbox.prune(Duration.parse(keep)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("To remember for " + Duration.parse(keep) + " what was processed is too short: a day is the"
                        + " least, and it must be longer than an event may take to come again.");
        assertThat(consumers()).isEqualTo("old");
    }

    @Test
    void aDatabaseThatRefusesIsNamed() {
        assertThatThrownBy(() -> JdbcInbox.of(database.dataSource())
                        .withTables(new TableNames("nowhere"))
                        .prune())
                .isInstanceOf(OutboxException.class)
                .hasMessage("The inbox could not be pruned: ERROR: relation \"nowhere.inbox_message\" does not exist."
                        + " Consumers go on; call it again.");
    }

    private static UUID note(String consumer, String ago) {
        UUID id = UUID.randomUUID();
        database.execute("INSERT INTO inbox_message VALUES ('" + consumer + "', '" + id
                + "', clock_timestamp() - interval '" + ago + "')");
        return id;
    }

    private static String consumers() {
        return String.join(",", database.column("SELECT consumer FROM inbox_message ORDER BY 1"));
    }
}
