// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Node;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.relay.CommitIntake;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/** One membership as {@link OrderedFeed} makes it, over simulated statements and a simulated clock. */
public final class SimulatedFeed {
    /** What is left of an event's lease when a send may be started for the last time; two seconds in the product. */
    public static final Duration SEND_TIME = Duration.ofMillis(400);

    private final Ownership ownership;
    private final OrderedMembership membership;
    private final int loops;

    public SimulatedFeed(Node node, Ledger ledger, int loops, Duration lease, LongSupplier ticker) {
        this.loops = loops;
        this.ownership = new Ownership(node.shards());
        OrderedSettings settings =
                new OrderedSettings(OrderedSettings.DEFAULT_GROUP, List.of(), lease, Duration.ofSeconds(10));
        SimulatedEvents events = new SimulatedEvents(node, ledger, ownership);
        OrderedMembership.Intakes intakes = new OrderedMembership.Intakes() {
            @Override
            public Intake of(int loop) {
                // What is read ahead is read at once, and is as old as can be when it is asked for.
                EventStore ahead = new ReadAhead(events, node::atOnce, ticker);
                return new OrderedIntake(ahead, ownership, new OrderedIntake.Part(loop, loops, false, null), ticker);
            }

            @Override
            public CommitIntake commits(Runnable passedOver) {
                SimulatedLeases leases = new SimulatedLeases(node, ledger, events, ownership, ticker);
                return new LeasedIntake(leases, ownership, ticker, passedOver);
            }
        };
        membership = new OrderedMembership(
                node.toString(),
                loops == 0 ? ShardStore.Wants.REST : ShardStore.Wants.SHARDS,
                new OrderedFeed.Parts(
                        settings,
                        ownership,
                        new SimulatedShards(node, ledger, lease.toNanos()),
                        new Housekeeping(() -> {}, ticker)),
                intakes,
                ticker);
    }

    public void join() {
        membership.join();
    }

    public List<Intake> intakes() {
        return IntStream.range(0, loops).mapToObj(membership::intake).toList();
    }

    /**
     * What takes the commits of its process.
     *
     * @param passedOver called when something was committed that it does not send
     */
    public CommitIntake commits(Runnable passedOver) {
        return membership.commits(passedOver);
    }

    public void tick(Membership.Report report) {
        membership.tick(report);
    }

    public long tickEvery() {
        return membership.tickEvery().toNanos();
    }

    public void wants(boolean share) {
        membership.wants(share);
    }

    public void leave() {
        membership.leave();
    }

    public long member() {
        return ownership.member();
    }

    public boolean isOwner(ShardRow row) {
        return row.owner() == member() && ownership.all().getOrDefault(row.shard(), -1L) == row.epoch();
    }

    public boolean ownsAll() {
        return ownership.ownsAll();
    }

    public boolean mayStart(int shard, long now) {
        return ownership.owns(shard) && ownership.mayStart(now);
    }
}
