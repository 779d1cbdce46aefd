// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.postgres.CommitSignal;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The outbox in this process, the relay in another, which is notified after each commit. */
final class NotifyCarrier implements Carrier {
    private final Rig rig;
    private final JdbcOutbox outbox;
    private @Nullable ChildRelay relay;
    private @Nullable CommitSignal signal;

    NotifyCarrier(Rig rig) {
        this.rig = rig;
        this.outbox = JdbcOutbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return "notify";
    }

    @Override
    public void open() {
        ChildRelay started = relay == null ? new ChildRelay(rig, History.KEEP, 1, "256m") : relay;
        relay = started;
        started.start();
        signal = CommitSignal.of(rig.dataSource(), outbox.bell()).onlySends().start();
    }

    @Override
    public void beforeCommit(Connection connection, OutboxEvent event) {
        outbox.on(connection).append(event);
    }

    @Override
    public void afterCommit(OutboxEvent event) {
        outbox.committed();
    }

    @Override
    public void close() {
        if (signal != null) {
            signal.close();
            signal = null;
        }
        if (relay != null) {
            relay.stop();
        }
    }

    @Override
    public void end() {
        if (relay != null) {
            relay.close();
        }
    }
}
