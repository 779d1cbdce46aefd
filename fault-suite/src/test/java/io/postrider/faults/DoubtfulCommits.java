// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.testkit.Ledger;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Appends, and remembers the events of transactions whose writer did not hear of a commit. Thread-safe. */
final class DoubtfulCommits implements Ledger.Appender {
    private final JdbcOutbox outbox;
    private final Map<Connection, List<UUID>> open = new ConcurrentHashMap<>();
    private final Queue<List<UUID>> unheard = new ConcurrentLinkedQueue<>();

    DoubtfulCommits(JdbcOutbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public void append(Connection connection, OutboxEvent event) {
        // A connection is used by one thread.
        open.computeIfAbsent(connection, fresh -> new ArrayList<>()).add(event.id());
        outbox.on(connection).append(event);
    }

    @Override
    public void committed(Connection connection) {
        open.remove(connection);
    }

    @Override
    public void forgotten(Connection connection) {
        List<UUID> events = open.remove(connection);
        if (events != null) {
            unheard.add(List.copyOf(events));
        }
    }

    /** Those transactions that the ledger has all the same; the writers must have ended. */
    List<List<UUID>> committedUnheard(Rig rig) {
        Set<String> ledger = new HashSet<>(rig.texts("SELECT event_id FROM ledger"));
        return unheard.stream()
                .filter(events -> ledger.contains(events.get(0).toString()))
                .toList();
    }
}
