// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.ops.Actor;
import io.postrider.ops.Unknowns;
import io.postrider.relay.Relay;
import java.sql.PreparedStatement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Handlers over a competing stream: what they settle by themselves, and what nobody knows. */
class CompetingHandlersTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());

    @BeforeEach
    void clear() {
        database.clear();
    }

    private Relay started(Handlers handlers) {
        Relay relay = Relay.from(CompetingFeed.of(database.dataSource(), "work"))
                .to(handlers)
                .wokenBy(outbox.bell())
                .build();
        relay.start();
        return relay;
    }

    private void append(int count) {
        outbox.transact(tx -> {
            for (int i = 0; i < count; i++) {
                tx.append(OutboxEvent.of("work", "T").key("k").json("{}").build());
            }
        });
    }

    @Test
    void whatIsSettledInTheHandlersTransactionIsDoneOnceAndLeftAlone() {
        database.execute("CREATE TABLE IF NOT EXISTS effect (event_id uuid PRIMARY KEY)");
        Handlers handlers = Handlers.builder()
                .on("work", "T")
                .settle(SameTransaction.of(outbox).run(event -> event, (event, tx) -> {
                    try (PreparedStatement insert =
                            tx.connection().prepareStatement("INSERT INTO effect (event_id) VALUES (?)")) {
                        insert.setObject(1, tx.context().event().id());
                        insert.executeUpdate();
                    }
                }))
                .build();
        try (Relay relay = started(handlers)) {
            append(200);
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 200);
            await().atMost(PATIENCE).until(() -> relay.inFlight() == 0);
        }
        assertThat(database.number("SELECT count(*) FROM effect")).isEqualTo(200);
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_history")).isEqualTo(200);
    }

    @Test
    void whatNobodyKnowsWaitsAndHoldsNobody() {
        Handlers handlers = Handlers.builder()
                .on("work", "T")
                .handle((event, context) -> Handled.unknown("NO_ANSWER", "nobody knows"))
                .build();
        try (Relay relay = started(handlers)) {
            append(2);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(database.column(
                                    "SELECT status || holds || attempt_count FROM outbox_event ORDER BY id"))
                            .containsExactly("UNKNOWNfalse1", "UNKNOWNfalse1"));
            await().atMost(PATIENCE).until(() -> relay.inFlight() == 0);
        }
        Unknowns unknowns = Unknowns.of(database.dataSource());
        unknowns.find("work", Duration.ZERO, 0, 10)
                .forEach(event -> unknowns.done(event.eventId(), new Actor("test", "found out")));
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
    }
}
