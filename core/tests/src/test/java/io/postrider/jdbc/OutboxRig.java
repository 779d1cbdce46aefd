// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;

/** An outbox on a database that is emptied before each test, and the count of its rings. */
class OutboxRig {
    static final TestDatabase DATABASE = TestDatabase.migrated();

    final JdbcOutbox outbox = JdbcOutbox.of(DATABASE.dataSource());
    final AtomicInteger rings = new AtomicInteger();

    @BeforeEach
    void empty() {
        DATABASE.clear();
        outbox.bell().onRing(rings::incrementAndGet);
    }

    static OutboxEvent event(String key) {
        return OutboxEvent.of("s", "T").key(key).build();
    }

    static Connection transaction() throws SQLException {
        Connection connection = DATABASE.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    static List<String> keys() {
        return DATABASE.column("SELECT event_key FROM outbox_event ORDER BY id");
    }
}
