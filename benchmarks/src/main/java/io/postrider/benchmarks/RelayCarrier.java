// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.sql.Connection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Outbox and relay in this process; the relay sends at each commit, is woken by it, or finds the events by polling. */
final class RelayCarrier implements Carrier {
    private final Rig rig;
    private final How how;
    private final JdbcOutbox outbox;
    private @Nullable Relay relay;
    private JdbcOutbox.@Nullable Joined joined;

    /** How the relay comes to know of an event. */
    enum How {
        PUBLISH_ON_COMMIT,
        /** The same beside another relay, so that each event is leased. */
        LEASED,
        WAKE_UP,
        POLL;

        boolean isOnCommit() {
            return this == PUBLISH_ON_COMMIT || this == LEASED;
        }

        String variant() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    RelayCarrier(Rig rig, How how) {
        this.rig = rig;
        this.how = how;
        this.outbox = JdbcOutbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return how.variant();
    }

    @Override
    public void open() {
        if (how == How.LEASED) {
            Elsewhere.come(rig, LatencyRound.KEYS);
        }
        RelaySettings.Builder settings = Relays.build(rig.dataSource(), rig.bootstrapServers(), History.KEEP);
        relay = switch (how) {
            case PUBLISH_ON_COMMIT, LEASED ->
                settings.publishesOnCommit(outbox.bell()).build();
            case WAKE_UP -> settings.wokenBy(outbox.bell()).build();
            case POLL -> settings.build();
        };
        relay.start();
    }

    @Override
    public void beforeCommit(Connection connection, OutboxEvent event) {
        joined = outbox.join(connection);
        joined.append(event);
    }

    @Override
    public void afterCommit(OutboxEvent event) {
        if (joined != null) {
            joined.committed();
        }
    }

    @Override
    public void close() {
        if (relay != null) {
            relay.close();
            if (how == How.LEASED) {
                Elsewhere.leave(rig);
            }
            if (how.isOnCommit() && relay.publishedOnCommitCount() < 0.99 * relay.publishedCount()) {
                throw new IllegalStateException("Only " + relay.publishedOnCommitCount() + " of "
                        + relay.publishedCount() + " events were sent at their commit");
            }
            relay = null;
        }
    }
}
