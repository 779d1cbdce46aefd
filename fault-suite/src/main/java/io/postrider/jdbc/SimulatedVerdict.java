// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Tables.StreamRow;
import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Sql.VERDICT: the fence is locked FOR SHARE before any event row, and both are tested again once they are locked. */
final class SimulatedVerdict extends Statement<EventStore.Judged> {
    private final List<Verdict> verdicts;
    private final long me;
    private final Ledger ledger;
    private Set<Integer> fence = Set.of();
    private List<Verdict> found = List.of();

    SimulatedVerdict(List<Verdict> verdicts, long me, Ledger ledger) {
        this.verdicts = verdicts;
        this.me = me;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        fence = standing(snapshot);
        found = asSent(snapshot);
    }

    @Override
    protected List<Lock> locks() {
        List<Lock> locks = new ArrayList<>();
        fence.forEach(shard -> locks.add(new Lock("shard", shard, true)));
        if (!fence.isEmpty()) {
            found.stream()
                    .map(verdict -> verdict.delivery().id())
                    .sorted()
                    .forEach(id -> locks.add(new Lock("event", id, false)));
        }
        return locks;
    }

    @Override
    protected void recheck(Tables latest, long now) {
        fence = standing(latest);
        found = asSent(latest);
    }

    @Override
    protected EventStore.Judged write(Tables tables, long now) {
        Set<Long> written = new HashSet<>();
        for (Verdict verdict : found) {
            if (fence.contains(ShardClaim.of(verdict.delivery()).shard())
                    && written.add(verdict.delivery().id())) {
                change(verdict, tables, now);
            }
        }
        countRefused(written);
        return new EventStore.Judged(written, new HashSet<>(fence));
    }

    private void change(Verdict verdict, Tables tables, long now) {
        Delivery delivery = verdict.delivery();
        EventRow row = tables.event(delivery.id());
        StreamRow stream = tables.streams().get(row.event().stream());
        boolean dead = verdict.outcome() instanceof Outcome.Dead;
        boolean skips = stream != null && stream.onDead() == StreamSettings.OnDead.SKIP;
        long delay =
                verdict.outcome() instanceof Outcome.Retry retry ? retry.delay().toNanos() : 0;
        EventRow changed = new EventRow(
                row.id(),
                row.event(),
                row.shard(),
                dead ? Status.DEAD : Status.WAITING,
                row.event().key().isPresent() && !(dead && skips),
                row.revision() + 1,
                now + delay,
                row.attempts() + 1,
                0);
        tables.put(changed);
        if (dead && stream != null && stream.onDead() == StreamSettings.OnDead.STOP_STREAM) {
            ledger.sometimes(Sometimes.STREAM_STOPPED);
            tables.put(new StreamRow(stream.stream(), stream.onDead(), stream.keepsHistory(), true));
        }
        ShardClaim claim = ShardClaim.of(delivery);
        ShardRow claimed = new ShardRow(claim.shard(), me, claim.epoch());
        if (verdict.outcome().code().equals(Caution.KILLED_RELAY)) {
            ledger.quarantined(changed, claimed, tables);
        } else {
            ledger.judged(changed, claimed, tables);
        }
    }

    private void countRefused(Set<Long> written) {
        for (Verdict verdict : verdicts) {
            if (!fence.contains(ShardClaim.of(verdict.delivery()).shard())) {
                ledger.sometimes(Sometimes.ZOMBIE_VERDICT_REFUSED);
            } else if (!written.contains(verdict.delivery().id())) {
                ledger.sometimes(Sometimes.STALE_VERDICT_PASSED_OVER);
            }
        }
    }

    private Set<Integer> standing(Tables tables) {
        Set<Integer> standing = new TreeSet<>();
        for (Verdict verdict : verdicts) {
            ShardClaim claim = ShardClaim.of(verdict.delivery());
            ShardRow row = tables.shards().get(claim.shard());
            if (row != null && row.owner() == me && row.epoch() == claim.epoch()) {
                standing.add(claim.shard());
            }
        }
        return standing;
    }

    private List<Verdict> asSent(Tables tables) {
        return verdicts.stream()
                .filter(verdict -> {
                    EventRow row = tables.events().get(verdict.delivery().id());
                    return row != null && row.revision() == verdict.delivery().revision();
                })
                .toList();
    }

    @Override
    public String toString() {
        return "verdict as " + me + " "
                + verdicts.stream()
                        .map(verdict -> verdict.delivery().id() + " "
                                + verdict.outcome().getClass().getSimpleName())
                        .toList();
    }
}
