// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Node;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The statements of {@link ShardStatements}, each modelled after its SQL. */
final class SimulatedShards implements ShardStore {
    private final Node node;
    private final Ledger ledger;
    private final long ttl;

    SimulatedShards(Node node, Ledger ledger, long ttl) {
        this.node = node;
        this.ledger = ledger;
        this.ttl = ttl;
    }

    @Override
    public long join(String name, Wants wants) {
        return node.run("join", new Join(wants));
    }

    @Override
    public Survey tick(long me, Wants wants, Membership.Report report) {
        if (wants == Wants.REST) {
            ledger.asksForRest(node);
        }
        Survey survey = node.run("tick", new Tick(me, wants, report.closed()));
        if (!survey.renewed()) {
            ledger.sometimes(Sometimes.RELAY_JOINED_ANEW);
        }
        return survey;
    }

    @Override
    public boolean declareDead(Peer peer, boolean unmoved) {
        return node.run("declare dead", new DeclareDead(peer, unmoved));
    }

    @Override
    public Won take(long me, List<Seen> free) {
        return node.run("take", new SimulatedTake(me, free, ledger));
    }

    @Override
    public void release(long me, Map<Integer, Long> shards) {
        node.run("release", new SimulatedRelease(me, new TreeMap<>(shards), ledger));
    }

    @Override
    public void leave(long me) {
        node.run("leave", new Leave(me));
    }

    @Override
    public void close() {}

    /** Sql.JOIN; an id is drawn from a sequence, so it is never used again. */
    private final class Join extends Statement<Long> {
        private final Wants wants;

        Join(Wants wants) {
            this.wants = wants;
        }

        @Override
        protected void look(Tables snapshot, long now) {}

        @Override
        protected Long write(Tables tables, long now) {
            long id = ledger.joins(node);
            tables.put(new RelayRow(id, wants.name(), ttl, now + ttl, 0, Set.of()));
            return id;
        }

        @Override
        public String toString() {
            return "join";
        }
    }

    /** A write to one row of outbox_relay, if it is there in the snapshot and still there when it is locked. */
    private abstract static class OneRelay<T> extends Statement<T> {
        final long id;
        boolean there;

        OneRelay(long id) {
            this.id = id;
        }

        @Override
        protected void look(Tables snapshot, long now) {
            there = matches(snapshot, now);
        }

        @Override
        protected List<Lock> locks() {
            return there ? List.of(new Lock("relay", id, false)) : List.of();
        }

        @Override
        protected void recheck(Tables latest, long now) {
            there = there && matches(latest, now);
        }

        boolean matches(Tables tables, long now) {
            return tables.relays().containsKey(id);
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + " " + id;
        }
    }

    /** Sql.TICK: renews by the clock of the write, and shows the group as the snapshot has it. */
    private static final class Tick extends OneRelay<Survey> {
        private final Wants wants;
        private final Set<String> closed;
        private Tables seen = new Tables();

        Tick(long me, Wants wants, Set<String> closed) {
            super(me);
            this.wants = wants;
            this.closed = closed;
        }

        @Override
        protected void look(Tables snapshot, long now) {
            super.look(snapshot, now);
            seen = snapshot;
        }

        @Override
        protected Survey write(Tables tables, long now) {
            RelayRow me = tables.relays().get(id);
            if (there && me != null) {
                tables.put(new RelayRow(id, wants.name(), me.ttl(), now + me.ttl(), me.beat() + 1, closed));
            }
            List<Peer> peers = new ArrayList<>();
            seen.relays()
                    .values()
                    .forEach(relay -> peers.add(new Peer(
                            relay.id(),
                            relay.beat(),
                            Wants.valueOf(relay.wants()),
                            relay.leaseUntil() < now,
                            Duration.ofNanos(relay.ttl()),
                            relay.closed())));
            List<Seen> shards = new ArrayList<>();
            seen.shards().values().forEach(row -> shards.add(new Seen(row.shard(), row.owner(), row.epoch())));
            return new Survey(there, peers, shards);
        }
    }

    /** Sql.DECLARE_DEAD: a DELETE by compare-and-set on the beat. */
    private final class DeclareDead extends OneRelay<Boolean> {
        private final Peer peer;
        private final boolean unmoved;

        DeclareDead(Peer peer, boolean unmoved) {
            super(peer.id());
            this.peer = peer;
            this.unmoved = unmoved;
        }

        @Override
        boolean matches(Tables tables, long now) {
            RelayRow row = tables.relays().get(id);
            return row != null && row.beat() == peer.beat() && (row.leaseUntil() < now || unmoved);
        }

        @Override
        protected Boolean write(Tables tables, long now) {
            if (there) {
                tables.removeRelay(id);
                ledger.declaredDead(id);
            } else {
                ledger.sometimes(Sometimes.DEATH_REFUSED);
            }
            return there;
        }
    }

    /** Sql.LEAVE. */
    private static final class Leave extends OneRelay<Boolean> {
        Leave(long me) {
            super(me);
        }

        @Override
        protected Boolean write(Tables tables, long now) {
            return tables.removeRelay(id);
        }
    }
}
