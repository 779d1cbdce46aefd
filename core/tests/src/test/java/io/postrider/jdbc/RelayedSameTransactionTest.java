// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.handler.Message;
import io.postrider.handler.SettlingHandler;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers of {@link SameTransaction} as the destination of a relay. */
class RelayedSameTransactionTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
    private final SameTransaction once = SameTransaction.of(outbox).name("booking");

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (what text, transaction xid8)");
    }

    @Test
    void underARelayEachEffectIsMadeOnceWhateverFailsOnTheWay() {
        AtomicInteger calls = new AtomicInteger();
        Handlers handlers = handlers(once.run(RelayedSameTransactionTest::text, (text, tx) -> {
            book(text, tx);
            if (calls.incrementAndGet() % 7 == 0) {
                throw new IllegalStateException("now and then");
            }
        }));
        append(300);
        try (Relay relay = relay(handlers, 20)) {
            relay.start();
            await().until(() -> database.number("SELECT count(*) FROM outbox_event") == 0);
        }
        assertThat(effects()).hasSize(300).doesNotHaveDuplicates();
        assertThat(database.number("SELECT count(DISTINCT settled_by) FROM outbox_history"))
                .isEqualTo(1);
    }

    @Test
    void aBatchIsOneTransactionAndOneThatCannotBeHandledKeepsNobodyBack() {
        Handlers handlers = Handlers.builder()
                .concurrency(1)
                .otherwise()
                .settle(once.batches(100, RelayedSameTransactionTest::text, (messages, tx) -> {
                    for (Message<String> each : messages) {
                        assertThat(each.event().key()).contains("k" + each.body());
                        book(each.body(), tx);
                        if (each.body().equals("77")) {
                            throw new IllegalStateException("77");
                        }
                    }
                }))
                .build();
        append(300);
        try (Relay relay = relay(handlers, 4)) {
            relay.start();
            await().until(() ->
                    database.column("SELECT status FROM outbox_event").equals(List.of("DEAD")));
        }
        assertThat(effects()).hasSize(299).doesNotHaveDuplicates();
        assertThat(database.number("SELECT max(n) FROM (SELECT count(*) AS n FROM effect GROUP BY transaction) t"))
                .isGreaterThan(50);
        assertThatThrownBy(() -> once.batches(501, RelayedSameTransactionTest::text, (texts, tx) -> {}))
                .hasMessage("A batch has 2 to 500 events, not 501.");
    }

    private void append(int count) {
        outbox.transact(tx -> {
            for (int i = 0; i < count; i++) {
                tx.append(OutboxEvent.of("s", "T").key("k" + i).json("" + i).build());
            }
        });
    }

    private static Relay relay(Handlers handlers, int attempts) {
        return Relay.from(OrderedFeed.of(database.dataSource()))
                .to(handlers)
                .retry(RetryPolicy.delays(Duration.ofMillis(10)).attempts(attempts))
                .build();
    }

    private static Handlers handlers(SettlingHandler handler) {
        return Handlers.builder().otherwise().settle(handler).build();
    }

    private static String text(byte[] payload) {
        return new String(payload, StandardCharsets.UTF_8);
    }

    private static void book(String what, SameTransaction.Tx tx) throws SQLException {
        Connection connection = tx.connection();
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO effect VALUES (?, pg_current_xact_id())")) {
            insert.setString(1, what);
            insert.executeUpdate();
        }
    }

    private static List<String> effects() {
        return database.column("SELECT what FROM effect");
    }
}
