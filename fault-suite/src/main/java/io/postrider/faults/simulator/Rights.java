// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Ledger.Entry;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.jdbc.SimulatedFeed;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Who may start to send what: the owner of its shard, or while its lease lasts the process that wrote it, never both. */
final class Rights {
    private record Taken(Node node, Entry entry) {}

    private record Owned(ShardRow shard, long seenAt) {}

    private final World world;
    private final Supplier<Tables> tables;
    private final List<Node> nodes;
    private final Map<Taken, Owned> owned = new HashMap<>();
    private final Map<Taken, Long> leased = new HashMap<>();
    private final Map<Entry, Long> leaseEnds = new HashMap<>();
    private final Map<Entry, Long> extendedAt = new HashMap<>();

    /**
     * @param tables as they are now
     * @param nodes all relays that ever were
     */
    Rights(World world, Supplier<Tables> tables, List<Node> nodes) {
        this.world = world;
        this.tables = tables;
        this.nodes = nodes;
    }

    void took(Node node, Entry entry, ShardRow claim, long seenAt) {
        owned.put(new Taken(node, entry), new Owned(claim, seenAt));
    }

    void extended(Entry entry) {
        extendedAt.put(entry, world.now());
    }

    void tookLeased(Node node, Entry entry, long member) {
        leased.put(new Taken(node, entry), member);
    }

    /** Returns as whose it is sent. */
    ShardRow checkOwner(Send send, Map<Long, Node> members) {
        Node node = send.node;
        int shard = Writers.shardOf(send.entry.event);
        Owned claim = owned.get(new Taken(node, send.entry));
        if (!node.mayStart(shard) || claim == null || !node.owns(claim.shard)) {
            throw new Violation("I5 right to send", node + " sends " + send.entry + " without owning its shard");
        }
        for (Node other : nodes) {
            if (other != node && other.mayStart(shard)) {
                throw new Violation("I5 one owner", node + " and " + other + " may both send of shard " + shard);
            }
        }
        EventRow row = tables.get().events().get(send.entry.id);
        if (row != null && row.lockedBy() != 0) {
            // Late: the extension had begun when the lease had not yet run out, and the owner's read came in between.
            boolean extendedLate = extendedAt.getOrDefault(send.entry, -1L) >= claim.seenAt;
            if (row.dueAt() > world.now() && !extendedLate) {
                throw new Violation("I5 lease", node + " sends " + send.entry + ", leased by " + row.lockedBy());
            }
            world.count(Sometimes.LEASED_EVENT_TAKEN_OVER);
            Node lessee = members.get(row.lockedBy());
            if (lessee != null && lessee.isCrashed()) {
                world.count(Sometimes.LEASE_RAN_OUT_AFTER_CRASH);
            }
        }
        return claim.shard;
    }

    /** Its lease must last for as long as a send may take. */
    void checkLease(Send send) {
        EventRow row = tables.get().events().get(send.entry.id);
        Long member = leased.get(new Taken(send.node, send.entry));
        long until = world.now() + SimulatedFeed.SEND_TIME.toNanos() - 1;
        if (row == null || member == null || !row.isLeasedTo(member, until)) {
            throw new Violation("I5 lease", send.node + " sends " + send.entry + " without a lease: " + row);
        }
        leaseEnds.put(send.entry, row.dueAt());
    }

    /** Whether the lease has run out under which it was sent at its commit. */
    boolean leaseIsOver(Entry entry) {
        return leaseEnds.getOrDefault(entry, 0L) <= world.now();
    }
}
