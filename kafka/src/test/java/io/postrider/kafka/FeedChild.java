// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/** A consumer in a process of its own, which notes each call of its handler, and its effect in the inbox's transaction. */
final class FeedChild {
    /** Printed when the effect of such an event is there, and its handler does not end any more. */
    static final String HOLDS = "holds ";

    private FeedChild() {}

    /** Takes the address of the broker, the topic, which is also the group, and the URL of the database. */
    public static void main(String[] args) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(args[2]);
        JdbcInbox inbox = JdbcInbox.of(database);
        Handlers handlers = Handlers.builder()
                .concurrency(4)
                .on(args[1], "T")
                .run(event -> {
                    try (Connection connection = database.getConnection()) {
                        insert(connection, "call", event);
                    }
                    inbox.transact("feed", event.id(), tx -> insert(tx.connection(), "effect", event));
                    hold(database, event);
                })
                .build();
        KafkaFeed feed = KafkaFeed.builder(Map.of(
                        "bootstrap.servers",
                        args[0],
                        "group.id",
                        args[1],
                        "session.timeout.ms",
                        "6000",
                        "heartbeat.interval.ms",
                        "500"))
                .stream(args[1])
                .deadLetterTopic(args[1] + ".dead")
                .build();
        Relay.from(feed).to(handlers).build().start();
    }

    /** Once for each event with the header {@code hold}. */
    private static void hold(PGSimpleDataSource database, OutboxEvent event) throws SQLException, InterruptedException {
        if (event.headers().containsKey("hold") && calls(database, event) == 1) {
            System.out.println(HOLDS + event.headers().get("hold"));
            new CountDownLatch(1).await();
        }
    }

    private static int calls(PGSimpleDataSource database, OutboxEvent event) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("SELECT count(*) FROM call WHERE event_id = ?")) {
            statement.setObject(1, event.id());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    private static void insert(Connection connection, String table, OutboxEvent event) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("INSERT INTO " + table + " (event_id, key, number) VALUES (?, ?, ?)")) {
            statement.setObject(1, event.id());
            statement.setString(2, event.key().orElseThrow());
            statement.setInt(3, Integer.parseInt(Topics.text(Objects.requireNonNull(event.payload()))));
            statement.execute();
        }
    }
}
