// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.jdbc.StreamSettings.OnDead;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Transactions that draw ids and commit, late or never. One that writes a key locks it from before it draws until it ends,
 * so the ids of a key commit in their order.
 */
final class Writers {
    private static final List<String> KEYS = List.of("a", "b", "c", "d", "e");

    private final World world;
    private final Database database;
    private final Ledger ledger;
    private final Runnable ring;
    private final Set<String> lockedKeys = new HashSet<>();
    private long ids;

    /** @param ring called after a commit */
    Writers(World world, Database database, Ledger ledger, Runnable ring) {
        this.world = world;
        this.database = database;
        this.ledger = ledger;
        this.ring = ring;
    }

    static int shardOf(OutboxEvent event) {
        String hashed = event.key().orElseGet(() -> event.id().toString());
        return 1 + Math.floorMod(hashed.hashCode(), Mood.SHARDS);
    }

    static OnDead onDead(String stream) {
        return switch (stream) {
            case "bills" -> OnDead.SKIP;
            case "mails" -> OnDead.STOP_STREAM;
            default -> OnDead.HOLD_KEY;
        };
    }

    /** Plans so many transactions until then. */
    void plan(int transactions, long until) {
        for (int i = 0; i < transactions; i++) {
            world.schedule.at(world.dice.millis(0, (double) until / Dice.MS), this::begin);
        }
    }

    private void begin() {
        List<OutboxEvent.Builder> events = new ArrayList<>();
        Set<String> keys = new HashSet<>();
        for (int i = 1 + world.dice.below(world.dice.chance(0.2) ? 8 : 2); i > 0; i--) {
            OutboxEvent.Builder event = OutboxEvent.of(stream(), "T")
                    .payload(new byte[world.dice.below(40)])
                    .occurredAt(Instant.EPOCH);
            if (world.dice.chance(0.25)) {
                events.add(event.unkeyed());
            } else {
                String key = world.dice.pick(KEYS);
                if (!lockedKeys.contains(key)) {
                    keys.add(key);
                    events.add(event.key(key));
                }
            }
        }
        lockedKeys.addAll(keys);
        draw(events, new ArrayList<>(), keys);
    }

    /** A transaction that is open for long has the others overtake it. */
    private void draw(List<OutboxEvent.Builder> events, List<EventRow> drawn, Set<String> keys) {
        if (drawn.size() == events.size()) {
            world.schedule.in(
                    world.dice.chance(0.2) ? world.dice.millis(50, 900) : world.dice.millis(0.1, 5),
                    () -> end(drawn, keys));
            return;
        }
        long id = ++ids;
        OutboxEvent event = events.get(drawn.size()).id(new UUID(0, id)).buildStored();
        ledger.drew(id, event);
        drawn.add(new EventRow(id, event, shardOf(event), Status.PENDING, false, 0, 0, 0));
        world.schedule.in(
                world.dice.chance(0.1) ? world.dice.millis(5, 200) : world.dice.millis(0.1, 2),
                () -> draw(events, drawn, keys));
    }

    private void end(List<EventRow> drawn, Set<String> keys) {
        boolean commits = !database.isDown() && !world.dice.chance(0.15);
        List<Long> drawnIds = drawn.stream().map(EventRow::id).toList();
        world.note("writer", commits ? "commits" : "rolls back", drawnIds, keys);
        if (commits) {
            database.commit(tables -> drawn.forEach(tables::put));
            drawn.forEach(row -> ledger.committed(row.event()));
            ring.run();
        } else {
            world.count(Sometimes.TRANSACTION_ROLLED_BACK);
        }
        lockedKeys.removeAll(keys);
    }

    private String stream() {
        int draw = world.dice.below(10);
        return Mood.STREAMS.get(draw < 6 ? 0 : draw < 9 ? 1 : 2);
    }
}
