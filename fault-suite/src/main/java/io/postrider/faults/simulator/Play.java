// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Tables.StreamRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Set;

/** One seed: a stormy time, then a calm one in which everything must arrive. */
final class Play {
    private static final long PATIENCE = Duration.ofSeconds(60).toNanos();
    private static final long LOOK_EVERY = Duration.ofMillis(100).toNanos();

    private final World world;
    private final Database database;
    private final Ledger ledger;
    private final List<Node> nodes = new ArrayList<>();
    private final Destination destination;
    private final Operator operator;
    private boolean over;
    private boolean waitsForShares;

    Play(long seed, boolean traced) {
        world = new World(seed, traced);
        database = new Database(world, this::checkOwners);
        ledger = new Ledger(world, database::tables, nodes);
        destination = new Destination(world, ledger, this::startNode);
        operator = new Operator(world, database, ledger);
    }

    World world() {
        return world;
    }

    void run() {
        database.commit(Play::prepare);
        long storm = storm();
        Writers writers = new Writers(world, database, ledger, this);
        writers.plan(4 + world.dice.below(14), storm * 3 / 4);
        Weather weather = new Weather(world, database, destination, operator, this);
        for (int i = 1 + world.dice.below(3); i > 0; i--) {
            world.schedule.in(world.dice.millis(0, 200), this::startNode);
        }
        weather.plan(storm);
        world.schedule.at(storm, () -> clear(weather));
        world.schedule.until(() -> over);
    }

    private long storm() {
        if (world.mood.oneSided()) {
            return Duration.ofSeconds(45).toNanos();
        }
        // A deadly event must have ended some relays before anybody becomes careful.
        return world.mood.deadly() > 0 ? world.dice.millis(4_000, 12_000) : world.dice.millis(1_000, 3_500);
    }

    private static void prepare(Tables tables) {
        for (int shard = 1; shard <= Mood.SHARDS; shard++) {
            tables.put(new ShardRow(shard, 0, 0));
        }
        // The first stream is met for the first time, and registered then.
        for (String stream : Mood.STREAMS.subList(1, Mood.STREAMS.size())) {
            tables.put(new StreamRow(stream, Writers.onDead(stream), stream.equals("mails"), false));
        }
    }

    void startNode() {
        boolean commits = world.mood.commits() && world.dice.chance(0.7);
        start(new Node.Part(!commits || world.dice.chance(0.75), commits));
    }

    private void start(Node.Part part) {
        Node node = new Node(world, "relay-" + (nodes.size() + 1), part, database, ledger);
        nodes.add(node);
        node.start(destination);
    }

    /** Those that run and are not about to leave. */
    List<Node> running() {
        return nodes.stream().filter(Node::isRunning).toList();
    }

    private List<Node> sharing() {
        return running().stream().filter(node -> node.part().shares()).toList();
    }

    /** Some relays hear of a commit, or none. */
    void ring() {
        if (world.dice.chance(0.7)) {
            running().stream().filter(node -> world.dice.chance(0.5)).forEach(Node::ring);
        }
    }

    private void clear(Weather weather) {
        world.note("weather", "the storm is over");
        world.stormy = false;
        weather.clear();
        if (world.dice.chance(0.5)) {
            operator.requeueAllDead();
        }
        // Not always, since it takes longer than everything else.
        waitsForShares = world.dice.chance(0.2);
        look(world.now() + PATIENCE);
    }

    private void look(long deadline) {
        Mood.STREAMS.forEach(stream -> operator.pause(stream, false));
        if (sharing().isEmpty()) {
            start(new Node.Part(true, world.mood.commits()));
        }
        List<String> left = left();
        if (left.isEmpty()) {
            over = true;
        } else if (world.now() > deadline) {
            throw new Violation("I1 everything arrives", "long after the storm is left: " + left);
        } else {
            world.schedule.in(LOOK_EVERY, () -> look(deadline));
        }
    }

    private void checkOwners(Tables tables) {
        for (ShardRow row : tables.shards().values()) {
            for (Node node : nodes) {
                if (!node.agreesWith(row)) {
                    throw new Violation("I5 one owner", node + " may send of a shard that the table says is " + row);
                }
            }
        }
    }

    /** How many shards each relay that runs has differs by one at most. */
    private boolean isShared() {
        IntSummaryStatistics shares = sharing().stream()
                .mapToInt(node -> (int) database.tables().shards().values().stream()
                        .filter(row -> row.owner() == node.member())
                        .count())
                .summaryStatistics();
        return shares.getSum() == Mood.SHARDS && shares.getMax() - shares.getMin() <= 1;
    }

    /** What is not yet as it must be in the end. */
    private List<String> left() {
        List<String> left = new ArrayList<>();
        Set<String> held = new HashSet<>();
        for (EventRow row : database.tables().events().values()) {
            if (row.status() == Status.DEAD) {
                if (row.holds()) {
                    held.add(row.place());
                }
            } else if (!held.contains(row.place())) {
                left.add("row " + row.id() + " " + row.status());
            }
        }
        for (Ledger.Entry entry : ledger.entries()) {
            boolean isThere = database.tables().events().containsKey(entry.id);
            if (entry.committed && entry.deliveries == 0 && !entry.discarded && !isThere) {
                left.add(entry + " has vanished");
            }
        }
        nodes.stream()
                .filter(node -> node.inFlight() > 0)
                .forEach(node -> left.add(node + " has " + node.inFlight() + " in flight"));
        if (waitsForShares && left.isEmpty() && !isShared()) {
            left.add("shards unevenly shared: " + database.tables().shards().values());
        }
        return left;
    }
}
