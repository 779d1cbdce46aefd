// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Appends to an outbox whose events a relay of the same process sends at their commit. Thread-safe. */
public final class CommitAppender implements Ledger.Appender {
    private final JdbcOutbox outbox;
    private final Map<Connection, JdbcOutbox.Joined> open = new ConcurrentHashMap<>();

    public CommitAppender(JdbcOutbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public void append(Connection connection, OutboxEvent event) {
        open.computeIfAbsent(connection, outbox::join).append(event);
    }

    @Override
    public void committed(Connection connection) {
        JdbcOutbox.Joined joined = open.remove(connection);
        if (joined != null) {
            joined.committed();
        }
    }

    @Override
    public void forgotten(Connection connection) {
        open.remove(connection);
    }
}
