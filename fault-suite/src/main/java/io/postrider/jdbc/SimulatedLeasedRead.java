// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.faults.simulator.Ledger;
import io.postrider.faults.simulator.Sometimes;
import io.postrider.faults.simulator.Statement;
import io.postrider.faults.simulator.Tables;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.RelayRow;
import io.postrider.faults.simulator.Tables.StreamRow;
import io.postrider.relay.Delivery;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** LeaseSql.READ: sees one snapshot, with the clock of a little later, and locks nothing. */
final class SimulatedLeasedRead extends Statement<LeaseStore.Found> {
    private final Set<UUID> ids;
    private final Set<Long> inFlight;
    private final long me;
    private final long asked;
    private final Ledger ledger;
    private Tables seen = new Tables();

    /** Of each key that was asked for, the last. */
    private final Map<String, EventRow> fronts = new HashMap<>();

    private final Map<String, Long> barriers = new HashMap<>();

    /** @param asked when its client asked: what is left of a lease is counted from then on */
    SimulatedLeasedRead(Set<UUID> ids, Set<Long> inFlight, long me, long asked, Ledger ledger) {
        this.ids = ids;
        this.inFlight = inFlight;
        this.me = me;
        this.asked = asked;
        this.ledger = ledger;
    }

    @Override
    protected void look(Tables snapshot, long now) {
        seen = snapshot;
    }

    @Override
    protected LeaseStore.Found write(Tables tables, long now) {
        List<Delivery> sendable = new ArrayList<>();
        List<Delivery> barred = new ArrayList<>();
        Set<String> barredStreams = new HashSet<>();
        Set<String> newStreams = new HashSet<>();
        RelayRow relay = seen.relays().get(me);
        if (relay != null && relay.leaseUntil() > now) {
            long endsNotBefore = now + SimulatedFeed.SEND_TIME.toNanos();
            for (EventRow row : found(endsNotBefore)) {
                (isSendable(row, endsNotBefore) ? sendable : barred).add(delivery(row, now));
                StreamRow stream = stream(row);
                if (stream != null && stream.paused()) {
                    barredStreams.add(row.event().stream());
                }
                if (stream == null) {
                    newStreams.add(row.event().stream());
                }
            }
        }
        barred.forEach(each -> ledger.sometimes(Sometimes.BARRED_EVENT_GIVEN_BACK));
        return new LeaseStore.Found(sendable, barred, barredStreams, newStreams);
    }

    private Iterable<EventRow> found(long endsNotBefore) {
        Map<Long, EventRow> found = new TreeMap<>();
        for (EventRow row : seen.events().values()) {
            if (isMine(row) && ids.contains(row.event().id())) {
                found.put(row.id(), row);
                if (row.event().key().isPresent()) {
                    fronts.put(row.place(), row);
                }
            }
        }
        for (EventRow front : fronts.values()) {
            SimulatedKey key = new SimulatedKey(seen.events().values(), front);
            long holding = key.firstHolding(row -> row.lockedBy() == me && row.dueAt() >= endsNotBefore);
            barriers.put(front.place(), Math.min(holding, key.oldestPending()));
            key.holding().filter(row -> isMine(row) && row.id() <= front.id()).forEach(row -> {
                if (found.put(row.id(), row) == null) {
                    ledger.sometimes(Sometimes.BROUGHT_ALONG_BEFORE_ITS_HAND_OVER);
                }
            });
        }
        return found.values();
    }

    private boolean isMine(EventRow row) {
        return row.lockedBy() == me && !inFlight.contains(row.id());
    }

    private boolean isSendable(EventRow row, long endsNotBefore) {
        StreamRow stream = stream(row);
        return row.id() < barriers.getOrDefault(row.place(), Long.MAX_VALUE)
                && row.dueAt() >= endsNotBefore
                && (stream == null || !stream.paused());
    }

    private @Nullable StreamRow stream(EventRow row) {
        return seen.streams().get(row.event().stream());
    }

    private Delivery delivery(EventRow row, long now) {
        StreamRow stream = stream(row);
        long startBy = asked + (row.dueAt() - now) - SimulatedFeed.SEND_TIME.toNanos();
        LeaseClaim claim = new LeaseClaim(startBy, stream == null || stream.keepsHistory());
        return new Delivery(row.id(), row.revision(), row.attempts(), row.event(), claim);
    }

    @Override
    public String toString() {
        return "read leased " + ids.stream().map(UUID::getLeastSignificantBits).toList() + " as " + me + " without "
                + inFlight;
    }
}
