// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.handler.Message;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.jdbc.SameTransaction;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;

/**
 * Handlers whose effect is a row of the table {@code effect}, which has no key: an effect that happened twice is there twice.
 * Thread-safe.
 */
public final class EffectHandlers {
    private static final String CONSUMER = "effects";
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final DataSource source;
    private final String name;
    private final Duration takes;
    private final LongAdder undone = new LongAdder();

    /** @param takes how long each handler has its effect made, and not yet committed or answered */
    public EffectHandlers(DataSource source, String name, Duration takes) {
        this.source = source;
        this.name = name;
        this.takes = takes;
    }

    /** How the effect is made. */
    public enum Kind {
        /** In a transaction that knows nothing of the event. */
        PLAIN,
        /** In a transaction that notes the event in an inbox. */
        INBOX,
        /** In the transaction that settles the event. */
        SAME_TRANSACTION,
        /** In the transaction that settles many events. */
        BATCHES
    }

    public Handlers of(Kind kind) {
        Handlers.Builder handlers = Handlers.builder().timeout(TIMEOUT).listener((event, events, took, done) -> {
            if (!done) {
                undone.increment();
            }
        });
        SameTransaction once = SameTransaction.of(source).name(name);
        return switch (kind) {
            case PLAIN -> handlers.otherwise().run(this::plain).build();
            case INBOX -> handlers.otherwise().run(this::noted).build();
            case SAME_TRANSACTION ->
                handlers.otherwise()
                        .settle(once.run(payload -> payload, (payload, tx) -> {
                            effect(tx.connection(), tx.context().event().id());
                        }))
                        .build();
            case BATCHES ->
                handlers.otherwise()
                        .settle(once.batches(50, payload -> payload, (messages, tx) -> {
                            for (Message<byte[]> each : messages) {
                                insert(tx.connection(), each.event().id());
                            }
                            take();
                        }))
                        .build();
        };
    }

    /** How many calls of handlers were not done. */
    public long undone() {
        return undone.sum();
    }

    private void plain(OutboxEvent event) throws SQLException {
        try (Connection connection = source.getConnection()) {
            effect(connection, event.id());
        }
    }

    private void noted(OutboxEvent event) throws SQLException {
        JdbcInbox.of(source).transact(CONSUMER, event.id(), tx -> effect(tx.connection(), event.id()));
    }

    private void effect(Connection connection, UUID event) throws SQLException {
        insert(connection, event);
        take();
    }

    private void insert(Connection connection, UUID event) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO effect (event_id, made_by) VALUES (?, ?)")) {
            insert.setObject(1, event);
            insert.setString(2, name);
            insert.executeUpdate();
        }
    }

    private void take() {
        if (!takes.isZero()) {
            Rig.pause(takes);
        }
    }
}
