// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.sql.Connection;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** An event in the outbox, while a relay of the same process delivers: woken by the commits, or publishing on commit. */
final class RelayedAppend implements Extra {
    private final Rig rig;
    private final How how;
    private final JdbcOutbox outbox;
    private final Map<Connection, JdbcOutbox.Joined> open = new ConcurrentHashMap<>();
    private @Nullable Relay relay;

    /** What the relay does at a commit. */
    enum How {
        RELAYED,
        PUBLISH_ON_COMMIT,
        /** The same beside another relay, so that each event is leased. */
        LEASED
    }

    RelayedAppend(Rig rig, How how) {
        this.rig = rig;
        this.how = how;
        this.outbox = JdbcOutbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return how.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public void open() {
        if (how == How.LEASED) {
            Elsewhere.come(rig, AppendRound.KEYS);
        }
        RelaySettings.Builder settings = Relays.build(rig.dataSource(), rig.bootstrapServers(), History.KEEP);
        Relay started = (how == How.RELAYED
                        ? settings.wokenBy(outbox.bell())
                        : settings.publishesOnCommit(outbox.bell()))
                .build();
        relay = started;
        started.start();
    }

    @Override
    public void in(Connection connection, int number) {
        JdbcOutbox.Joined joined = outbox.join(connection);
        joined.append(AppendRound.event(number));
        open.put(connection, joined);
    }

    @Override
    public void committed(Connection connection) {
        JdbcOutbox.Joined joined = open.remove(connection);
        if (joined != null) {
            joined.committed();
        }
    }

    /** A relay that stays behind leaves the processors to the writers. */
    @Override
    public Map<String, Double> measured(double transactions) {
        return relay == null ? Map.of() : Map.of("delivered", relay.publishedCount() / transactions);
    }

    @Override
    public void close() {
        if (relay != null) {
            relay.close();
            if (how == How.LEASED) {
                Elsewhere.leave(rig);
            }
            relay = null;
        }
    }
}
