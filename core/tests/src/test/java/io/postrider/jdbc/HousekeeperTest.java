// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.ops.DailyAt;
import io.postrider.ops.Housekeeper;
import io.postrider.ops.Retention;
import io.postrider.relay.Relay;
import io.postrider.table.TableNames;
import io.postrider.testkit.RecordingPublisher;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What one process does for all, when it is due. */
class HousekeeperTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final AtomicInteger done = new AtomicInteger();

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Test
    void ofManyOneDoesWhatIsDueEachTimeThatItIs() {
        int processes = 4;
        List<Housekeeper> all =
                Stream.generate(() -> minutely().build()).limit(processes).toList();
        for (int round = 1; round <= 10; round++) {
            CyclicBarrier start = new CyclicBarrier(processes);
            all.stream()
                    .map(each -> CompletableFuture.runAsync(
                            () -> {
                                try {
                                    start.await();
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                                each.tick();
                            },
                            task -> new Thread(task).start()))
                    .toList()
                    .forEach(CompletableFuture::join);
            assertThat(done).hasValue(round);
            database.execute("UPDATE outbox_duty SET due_at = due_at - interval '60 seconds'");
        }
    }

    @Test
    void whatOneWasDoingWhenItDiedAnotherDoesWhenTheLeaseHasRunOut() {
        database.execute("INSERT INTO outbox_duty (duty, holder, lease_until, due_at) VALUES ('mine', 'dead',"
                + " clock_timestamp() + interval '1 minute', clock_timestamp())");
        minutely().build().tick();
        assertThat(done).hasValue(0);
        database.execute("UPDATE outbox_duty SET lease_until = clock_timestamp()");
        minutely().build().tick();
        assertThat(done).hasValue(1);
        assertThat(database.column("SELECT holder FROM outbox_duty")).doesNotContain("dead");
    }

    @Test
    void whoComesBackAfterHisLeaseGivesBackNothing() {
        Housekeeper slow = Housekeeper.builder(database.dataSource())
                .every("mine", Duration.ofMinutes(1), () -> {
                    database.execute("UPDATE outbox_duty SET lease_until = clock_timestamp()");
                    database.execute("UPDATE outbox_duty SET holder = 'other', revision = revision + 1,"
                            + " lease_until = clock_timestamp() + interval '1 hour'");
                })
                .build();
        slow.tick();
        assertThat(database.column("SELECT holder || (lease_until > clock_timestamp()) FROM outbox_duty"))
                .containsExactly("othertrue");
    }

    @Test
    void whatFailsIsTriedAgainInTenMinutesAndKeepsNothingElseFromBeingDone() {
        Housekeeper.builder(database.dataSource())
                // The regular time would come first, were it less than ten minutes away.
                .dailyAt(new DailyAt(LocalTime.now(ZoneOffset.UTC).plusHours(12), ZoneOffset.UTC))
                .daily("failing", () -> {
                    throw new IllegalStateException("no");
                })
                .daily("mine", done::incrementAndGet)
                .build()
                .tick();
        assertThat(done).hasValue(1);
        assertThat(
                        database.number(
                                "SELECT count(*) FROM outbox_duty WHERE duty = 'failing'"
                                        + " AND due_at BETWEEN clock_timestamp() + interval '9 minutes' AND clock_timestamp() + interval '10 minutes'"))
                .isEqualTo(1);
    }

    @Test
    void theHistoryIsPrunedAtNightAndItsPartitionsAreMadeEveryHour() {
        SettleRaceTest.dropPartitions(database);
        Housekeeper.builder(database.dataSource())
                .dailyAt(new DailyAt(LocalTime.of(3, 15), ZoneId.of("Asia/Tokyo")))
                .retention(new Retention(database.dataSource(), TableNames.ofDefaults(), Duration.ofDays(7)))
                .build()
                .tick();
        assertThat(database.number("SELECT count(*) FROM pg_inherits WHERE inhparent = 'outbox_history'::regclass"))
                .isEqualTo(15);
        assertThat(database.column("SELECT (due_at AT TIME ZONE 'Asia/Tokyo')::time::text FROM outbox_duty"
                        + " WHERE duty = 'retention' AND due_at < clock_timestamp() + interval '24 hours'"))
                .containsExactly("03:15:00");
        assertThat(
                        database.number(
                                "SELECT count(*) FROM outbox_duty WHERE duty = 'partitions'"
                                        + " AND due_at BETWEEN clock_timestamp() + interval '59 minutes' AND clock_timestamp() + interval '60 minutes'"))
                .isEqualTo(1);
    }

    @Test
    void aRelayRunsIt() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        Housekeeper housekeeper = Housekeeper.builder(database.dataSource())
                .daily("mine", ran::countDown)
                .build();
        OrderedFeed feed = OrderedFeed.builder(database.dataSource())
                .housekeeper(housekeeper)
                .build();
        try (Relay relay = Relay.from(feed).to(new RecordingPublisher()).build()) {
            relay.start();
            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void whereThereIsNoRelayItRunsByItself() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        try (Housekeeper housekeeper = Housekeeper.builder(database.dataSource())
                .daily("mine", ran::countDown)
                .build()) {
            housekeeper.start();
            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(housekeeper::start).hasMessage("This housekeeper was started before. Make another one.");
        }
    }

    @Test
    void twoChoresOfOneNameAreRefused() {
        assertThatThrownBy(() -> minutely().daily("mine", () -> {}))
                .hasMessage("The housekeeper has two chores named 'mine'. Rename one.");
    }

    private Housekeeper.Builder minutely() {
        return Housekeeper.builder(database.dataSource()).every("mine", Duration.ofMinutes(1), done::incrementAndGet);
    }
}
