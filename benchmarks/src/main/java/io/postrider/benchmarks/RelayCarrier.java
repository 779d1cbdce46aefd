// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.relay.Relay;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** Outbox and relay in this process; the relay is woken by each commit, or finds the events by polling. */
final class RelayCarrier implements Carrier {
    private final Rig rig;
    private final boolean woken;
    private final JdbcOutbox outbox;
    private @Nullable Relay relay;

    RelayCarrier(Rig rig, boolean woken) {
        this.rig = rig;
        this.woken = woken;
        this.outbox = JdbcOutbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return woken ? "wake-up" : "poll";
    }

    @Override
    public void open() {
        relay = Relays.build(rig.dataSource(), rig.bootstrapServers(), History.KEEP)
                .wokenBy(outbox.bell())
                .build();
        relay.start();
    }

    @Override
    public void beforeCommit(Connection connection, OutboxEvent event) {
        outbox.on(connection).append(event);
    }

    @Override
    public void afterCommit(OutboxEvent event) {
        if (woken) {
            outbox.committed();
        }
    }

    @Override
    public void close() {
        if (relay != null) {
            relay.close();
            relay = null;
        }
    }
}
