// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.jdbc.StreamSettings.OnDead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;

/** Knows what was written, sent, delivered and judged, and says at once when a promise is broken. */
public final class Ledger {
    /** One event, from the moment its id was drawn. */
    static final class Entry {
        final long id;
        final OutboxEvent event;
        boolean committed;
        boolean discarded;
        boolean wasDead;
        boolean refusedForGood;
        int deliveries;
        int refusals;
        int verdicts;
        int uncounted;
        final List<Send> sends = new ArrayList<>(2);

        Entry(long id, OutboxEvent event) {
            this.id = id;
            this.event = event;
        }

        @Override
        public String toString() {
            return "event " + id + " (" + event.stream() + "/" + event.key().orElse("") + ")";
        }
    }

    /** Verdicts get lost with their relay, but not so many in a row. */
    private static final int MOST_UNCOUNTED = 6;

    private final World world;
    private final Map<UUID, Entry> entries = new HashMap<>();
    private final List<Entry> inOrder = new ArrayList<>();
    private final Map<Long, Node> members = new HashMap<>();
    private final Quarantine quarantine;
    private final Rights rights;
    private long lastDelivered;

    /** @param nodes all relays that ever were */
    Ledger(World world, Supplier<Tables> tables, List<Node> nodes) {
        this.world = world;
        this.rights = new Rights(world, tables, nodes);
        this.quarantine = new Quarantine(world);
    }

    List<Entry> entries() {
        return inOrder;
    }

    void drew(long id, OutboxEvent event) {
        Entry entry = new Entry(id, event);
        entries.put(event.id(), entry);
        inOrder.add(entry);
    }

    void committed(OutboxEvent event) {
        Entry entry = of(event);
        entry.committed = true;
        if (entry.id < lastDelivered) {
            world.count(Sometimes.LATE_COMMIT);
        }
    }

    /** A relay has read it, by a snapshot of then, and may send it while it owns its shard as it does now. */
    public void took(Node node, OutboxEvent event, ShardRow claim, long seenAt) {
        rights.took(node, of(event), claim, seenAt);
    }

    /** Its lessee has more time to be answered. */
    public void extended(EventRow row) {
        world.count(Sometimes.LEASE_EXTENDED);
        rights.extended(of(row.event()));
    }

    /** Its lessee leaves it to the owner of its shard. */
    public void givesBack(EventRow row) {
        if (row.attempts() > 0) {
            throw new Violation("I9 given back", row + " had come to the owner of its shard, who has judged it");
        }
    }

    /** A relay has read it, and may send it while the lease of this member lasts. */
    public void tookLeased(Node node, OutboxEvent event, long member) {
        rights.tookLeased(node, of(event), member);
    }

    Send sending(Node node, OutboxEvent event, boolean leased) {
        Entry entry = of(event);
        Send send = new Send(node, entry, world.now(), leased);
        for (Send earlier : entry.sends) {
            boolean mayBeForgotten = earlier.node.isUnclean() || (earlier.leased && rights.leaseIsOver(entry));
            if (earlier.succeeded && !mayBeForgotten) {
                throw new Violation(
                        "I4 no needless duplicate", node + " sends " + entry + ", delivered by " + earlier.node);
            }
        }
        entry.sends.add(send);
        if (leased) {
            rights.checkLease(send);
        } else {
            quarantine.sending(send, rights.checkOwner(send, members));
        }
        if (!node.outages().mayTry(send)) {
            throw new Violation("I6 closed gate", node + " sends " + entry + " while another is tried");
        }
        return send;
    }

    /** The destination has it. */
    void arrived(Send send) {
        Entry entry = send.entry;
        if (!entry.committed) {
            throw new Violation("I2 no ghosts", entry + " was delivered and is not committed");
        }
        if (entry.deliveries++ > 0) {
            world.count(Sometimes.EVENT_DELIVERED_AGAIN);
            if (world.mood.calm()) {
                throw new Violation("I4 no duplicate on a calm day", entry + " by " + send.node);
            }
            return;
        }
        world.count(Sometimes.EVENT_DELIVERED);
        lastDelivered = Math.max(lastDelivered, entry.id);
        if (entry.event.key().isPresent()) {
            inOrder.stream()
                    .filter(older -> older.id < entry.id && older.committed && isSameKey(older, entry))
                    .forEach(older -> checkWent(older, entry));
        }
    }

    private void checkWent(Entry older, Entry younger) {
        boolean skipped = older.wasDead && Writers.onDead(younger.event.stream()) == OnDead.SKIP;
        if (older.deliveries == 0 && !older.discarded && !skipped) {
            throw new Violation("I3 order", younger + " was delivered before " + older);
        }
        if (older.deliveries == 0 && skipped) {
            world.count(Sometimes.DEAD_EVENT_SKIPPED);
        }
    }

    /** The relay hears that it was delivered; if it comes too late to count, it was given up before. */
    void succeeded(Send send) {
        send.answered = true;
        send.succeeded = world.now() - send.at < Mood.ANSWER_TIMEOUT.toNanos();
        if (send.leased) {
            world.count(Sometimes.SENT_AT_COMMIT);
        }
    }

    /** The relay hears that it failed, and not by the event's own fault. */
    void failed(Send send) {
        send.answered = true;
    }

    /** The relay hears that the event itself is to blame. */
    void refused(Send send, boolean forGood) {
        send.answered = true;
        if (send.leased) {
            // Given back: the owner of the shard sends it once more, and what that one hears counts.
            return;
        }
        Entry entry = send.entry;
        entry.refusals++;
        entry.refusedForGood |= forGood;
        if (!send.node.outages().isClosed(entry.event.stream()) && ++entry.uncounted > MOST_UNCOUNTED) {
            throw new Violation("I7 attempts", entry + " is refused time and again, and that is never counted");
        }
    }

    /** A row is removed as delivered. */
    public void settled(EventRow row) {
        Entry entry = of(row.event());
        if (entry.deliveries == 0) {
            throw new Violation("I1 nothing lost", entry + " was settled and never delivered");
        }
    }

    /** A verdict changes a row, in the tables as they are at its commit. */
    public void judged(EventRow row, ShardRow claimed, Tables tables) {
        Entry entry = fenced(row, claimed, tables);
        if (++entry.verdicts > entry.refusals) {
            throw new Violation("I7 attempts", entry + " was refused " + entry.refusals + " times, counted more often");
        }
        entry.uncounted = 0;
        if (row.status() != Status.DEAD && row.attempts() >= Mood.ATTEMPTS) {
            throw new Violation("I7 attempts", entry + " has had its last attempt and is not dead");
        }
        if (row.status() == Status.DEAD) {
            world.count(Sometimes.EVENT_DEAD);
            entry.wasDead = true;
            if (!entry.refusedForGood && row.attempts() < Mood.ATTEMPTS) {
                throw new Violation("I7 attempts", entry + " is dead after " + row.attempts());
            }
        } else {
            world.count(Sometimes.EVENT_RETRIED);
        }
    }

    /** A verdict says that it ended one relay after the other. */
    public void quarantined(EventRow row, ShardRow claimed, Tables tables) {
        Entry entry = fenced(row, claimed, tables);
        entry.wasDead = true;
        quarantine.quarantined(entry, member -> {
            Node node = members.get(member);
            return node != null && node.isUnclean();
        });
    }

    private Entry fenced(EventRow row, ShardRow claimed, Tables tables) {
        Entry entry = of(row.event());
        if (!claimed.equals(tables.shards().get(claimed.shard()))) {
            throw new Violation(
                    "I5 fence",
                    "a verdict on " + entry + " under " + claimed + ", but now it is "
                            + tables.shards().get(claimed.shard()));
        }
        return entry;
    }

    public void careful(ShardRow owned) {
        quarantine.careful(owned);
    }

    public void marked(OutboxEvent event, ShardRow owned, int deaths) {
        quarantine.marked(of(event), owned, deaths);
    }

    public void calm(ShardRow owned) {
        quarantine.calm(owned);
    }

    void requeued(EventRow row, Tables tables) {
        quarantine.requeued(of(row.event()), tables);
    }

    public void discarded(EventRow row) {
        of(row.event()).discarded = true;
        world.count(Sometimes.EVENT_DISCARDED);
    }

    /** A relay gets its row; returns its number. */
    public long joins(Node node) {
        long number = members.size() + 1L;
        members.put(number, node);
        return number;
    }

    public void declaredDead(long member) {
        world.count(Sometimes.RELAY_DECLARED_DEAD);
        leaseRanOut(member);
    }

    /** From now on others may send what it has under way. */
    public void leaseRanOut(long member) {
        Node node = members.get(member);
        if (node != null) {
            node.unclean();
        }
    }

    public void asksForRest(Node node) {
        if (!node.mayAskForRest()) {
            world.count(Sometimes.RELAY_STOOD_BACK);
        }
    }

    public void sometimes(Sometimes what) {
        world.count(what);
    }

    private Entry of(OutboxEvent event) {
        Entry entry = entries.get(event.id());
        if (entry == null) {
            throw new Violation("I2 no ghosts", "nobody wrote " + event);
        }
        return entry;
    }

    private static boolean isSameKey(Entry a, Entry b) {
        return a.event.stream().equals(b.event.stream()) && a.event.key().equals(b.event.key());
    }
}
