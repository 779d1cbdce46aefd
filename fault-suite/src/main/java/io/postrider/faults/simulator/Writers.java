// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Transaction.Draft;
import io.postrider.jdbc.StreamSettings.OnDead;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Transactions that draw ids and commit, late or never. One that writes a key locks it from before it draws until it ends,
 * so the ids of a key commit in their order.
 */
final class Writers {
    private static final List<String> KEYS = List.of("a", "b", "c", "d", "e");

    private final World world;
    private final Database database;
    private final Ledger ledger;
    private final Play play;
    private final Set<String> lockedKeys = new HashSet<>();
    private final Map<Node, Long> handedOver = new HashMap<>();
    private long ids;
    private long commits;

    Writers(World world, Database database, Ledger ledger, Play play) {
        this.world = world;
        this.database = database;
        this.ledger = ledger;
        this.play = play;
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
        List<Draft> events = new ArrayList<>();
        Set<String> keys = new HashSet<>();
        for (int i = 1 + world.dice.below(world.dice.chance(0.2) ? 8 : 2); i > 0; i--) {
            String stream = stream();
            OutboxEvent.Builder event = OutboxEvent.of(stream, "T")
                    .payload(new byte[world.dice.below(40)])
                    .occurredAt(Instant.EPOCH);
            if (world.dice.chance(0.25)) {
                events.add(new Draft(stream, event.unkeyed()));
            } else {
                String key = world.dice.pick(KEYS);
                keys.add(key);
                events.add(new Draft(stream, event.key(key)));
            }
        }
        Node node = process();
        lock(new Transaction(events, keys, node));
    }

    /** Where it is written: mostly in a process that publishes on commit, if there is one. */
    private @Nullable Node process() {
        List<Node> processes = !world.mood.commits()
                ? List.of()
                : play.running().stream().filter(node -> node.part().commits()).toList();
        return processes.isEmpty() || world.dice.chance(0.15) ? null : world.dice.pick(processes);
    }

    private void lock(Transaction transaction) {
        if (transaction.keys.stream().anyMatch(lockedKeys::contains)) {
            world.schedule.in(world.dice.millis(1, 20), () -> lock(transaction));
        } else {
            lockedKeys.addAll(transaction.keys);
            transaction.askForLessees();
            draw(transaction);
        }
    }

    /** A transaction that is open for long has the others overtake it. */
    private void draw(Transaction transaction) {
        int drawn = transaction.inserted().size();
        if (transaction.isDead()) {
            end(transaction, false);
        } else if (transaction.nanosPaused() > 0) {
            world.schedule.in(transaction.nanosPaused(), () -> draw(transaction));
        } else if (drawn == transaction.events.size()) {
            boolean commits = !database.isDown() && !world.dice.chance(0.15);
            end(transaction, commits);
        } else {
            long id = ++ids;
            OutboxEvent event =
                    transaction.events.get(drawn).event().id(new UUID(0, id)).buildStored();
            ledger.drew(id, event);
            EventRow plain = new EventRow(id, event, shardOf(event), Status.PENDING, false, 0, 0, 0, 0);
            transaction.insert(plain, world, ledger);
            boolean last = drawn + 1 == transaction.events.size();
            world.schedule.in(last ? toTheEnd() : toTheNext(), () -> draw(transaction));
        }
    }

    private long toTheNext() {
        return world.dice.chance(0.1) ? world.dice.millis(5, 200) : world.dice.millis(0.1, 2);
    }

    private long toTheEnd() {
        return world.dice.chance(0.2) ? world.dice.millis(50, 900) : world.dice.millis(0.1, 5);
    }

    private void end(Transaction transaction, boolean commits) {
        world.note(transaction.writer(), commits ? "commits" : "rolls back", transaction);
        lockedKeys.removeAll(transaction.keys);
        if (!commits) {
            world.count(Sometimes.TRANSACTION_ROLLED_BACK);
            return;
        }
        database.commit(tables -> transaction.inserted().forEach(tables::put));
        transaction.inserted().forEach(row -> ledger.committed(row.event()));
        play.ring();
        if (transaction.node != null) {
            toBeHandedOver(transaction, transaction.node);
        }
    }

    /** Between the commit and what its thread does next, any time can pass, or the process ends. */
    private void toBeHandedOver(Transaction transaction, Node node) {
        if (world.stormy && world.dice.chance(0.03)) {
            node.mishap();
        }
        if (world.stormy && world.dice.chance(0.04)) {
            world.count(Sometimes.NEVER_HANDED_OVER);
            return;
        }
        long number = ++commits;
        long soon = world.dice.chance(0.5) ? world.dice.millis(0.01, 0.3) : world.dice.millis(0.1, 30);
        double most = 1.2 * world.mood.eventLease().toMillis();
        world.schedule.in(
                world.dice.chance(0.15) ? world.dice.millis(5, most) : soon, () -> handOver(transaction, node, number));
    }

    private void handOver(Transaction transaction, Node node, long number) {
        if (node.isPaused()) {
            world.schedule.in(node.nanosPaused(), () -> handOver(transaction, node, number));
        } else if (!node.isCrashed()) {
            world.note(transaction.writer(), "hands over", transaction);
            if (transaction.isLeased() && handedOver.merge(node, number, Math::max) > number) {
                world.count(Sometimes.HANDED_OVER_IN_ANOTHER_ORDER);
            }
            transaction.committed();
        }
    }

    private String stream() {
        int draw = world.dice.below(10);
        return Mood.STREAMS.get(draw < 6 ? 0 : draw < 9 ? 1 : 2);
    }
}
