// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Tables.ShardRow;
import io.postrider.jdbc.SimulatedFeed;
import io.postrider.relay.Bell;
import io.postrider.relay.FeedException;
import io.postrider.relay.SimulatedRelay;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A process with one relay: plays its threads, and can crash, be paused, rest and leave. */
public final class Node {
    private static final Set<String> DELICATE = Set.of("settle", "take", "release", "declare dead");
    private static final long RESTED_LATELY = Duration.ofSeconds(10).toNanos();
    private static final long STOP_TIME = Duration.ofSeconds(2).toNanos();

    private final World world;
    private final String name;
    private final Database database;
    private final Ledger ledger;
    private final Part part;
    private final Bell bell = new Bell();
    private final Loops loops;
    private final Outages outages;
    private SimulatedFeed feed;
    private @Nullable SimulatedRelay relay;
    private boolean crashed;
    private boolean unclean;
    private boolean ending;
    private boolean ticking;
    private boolean left;
    private boolean resting;
    private long restedAt = -RESTED_LATELY;
    private long endBy;
    private long pausedUntil;

    /** Whether it takes a share of the shards, and whether it publishes on commit what its process writes. */
    record Part(boolean shares, boolean commits) {}

    Node(World world, String name, Part part, Database database, Ledger ledger) {
        this.world = world;
        this.name = name;
        this.database = database;
        this.ledger = ledger;
        this.part = part;
        this.outages = new Outages(world, name, (part.shares ? world.mood.loops() : 0) + (part.commits ? 1 : 0));
        this.loops = new Loops(world, this);
        this.feed = newFeed();
    }

    private SimulatedFeed newFeed() {
        return new SimulatedFeed(this, ledger, part.shares ? world.mood.loops() : 0, world.mood.lease(), world::now);
    }

    String name() {
        return name;
    }

    Part part() {
        return part;
    }

    /** Rung by those who write in this process. */
    Bell bell() {
        return bell;
    }

    boolean isCrashed() {
        return crashed;
    }

    /** Crashed, or left. */
    boolean isOver() {
        return crashed || left;
    }

    boolean isPaused() {
        return pausedUntil > world.now();
    }

    long nanosPaused() {
        return pausedUntil - world.now();
    }

    /** Whether it may have lost its place with events under way or not yet settled. */
    boolean isUnclean() {
        return crashed || unclean;
    }

    long member() {
        return feed.member();
    }

    void unclean() {
        unclean = true;
    }

    boolean mayStart(int shard) {
        return !isOver() && feed.mayStart(shard, world.now());
    }

    /** How many there are in all. */
    public int shards() {
        return Mood.SHARDS;
    }

    boolean isTheOnlyOne() {
        return part.commits && feed.ownsAll();
    }

    boolean owns(ShardRow row) {
        return feed.isOwner(row);
    }

    /** Whether it has no right that the table does not give it. */
    boolean agreesWith(ShardRow row) {
        return !mayStart(row.shard()) || owns(row);
    }

    boolean isRunning() {
        return relay != null && !isOver() && !ending;
    }

    boolean isResting() {
        return resting;
    }

    /** Whether it was told to rest, or was so lately that it may not have said yet that this is over. */
    boolean mayAskForRest() {
        return !part.shares || resting || world.now() - restedAt < RESTED_LATELY;
    }

    int inFlight() {
        return relay == null || isOver() ? 0 : relay.report().inFlight();
    }

    /**
     * Waits for the statement's answer.
     *
     * @throws FeedException if none came; the statement may have had, or may yet have, its effect
     */
    public <T> T run(String what, Statement<T> statement) {
        double likely = what.equals("verdict") || what.equals("mark") ? 0.05 : DELICATE.contains(what) ? 0.01 : 0.0005;
        if (world.stormy && world.dice.chance(likely)) {
            world.schedule.in(world.dice.millis(0, 5), this::mishap);
        }
        return database.run(this, what, statement);
    }

    /** Work of another thread of this process, done by the one that wants it; the process may end while it is done. */
    public void atOnce(Runnable work) {
        work.run();
        if (crashed) {
            throw new Crash();
        }
    }

    void start(Destination destination) {
        if (crashed) {
            return;
        }
        feed = newFeed();
        try {
            feed.join();
        } catch (FeedException e) {
            world.schedule.in(world.dice.millis(50, 200), () -> start(destination));
            return;
        } catch (Crash e) {
            return;
        }
        relay = loops.start(feed, destination);
        world.note(name, "started as", feed.member());
        world.schedule.in(feed.tickEvery(), this::tick);
    }

    Outages outages() {
        return outages;
    }

    void ring() {
        if (relay != null && !isOver() && !isPaused()) {
            bell.ring();
        }
    }

    void crash() {
        world.note(name, "crashes");
        world.count(Sometimes.RELAY_CRASHED);
        crashed = true;
        database.crashed(this);
    }

    void pause(long nanos) {
        if (!database.mayPause(this)) {
            world.schedule.in(Dice.MS, () -> pause(nanos));
        } else if (!isOver()) {
            world.note(name, "is paused for", nanos / Dice.MS, "ms");
            world.count(Sometimes.RELAY_PAUSED);
            pausedUntil = world.now() + nanos;
            world.schedule.at(pausedUntil, () -> world.note(name, "goes on"));
        }
    }

    /** Crashes, or is paused for longer than its lease or not, now that something is under way. */
    void mishap() {
        if (isOver() || isPaused()) {
            return;
        }
        if (world.dice.chance(0.4)) {
            crash();
        } else {
            double lease = world.mood.lease().toMillis();
            pause(world.dice.millis(lease * 0.1, lease * (world.dice.chance(0.7) ? 2.5 : 0.8)));
        }
    }

    /** As Relay.pause and resume. */
    void rest(boolean rests) {
        if (relay != null && isRunning()) {
            world.note(name, rests ? "rests" : "wants its share again");
            world.count(Sometimes.RELAY_RESTED);
            resting = rests;
            restedAt = world.now();
            relay.taking(!rests);
            if (part.shares) {
                feed.wants(!rests);
            }
        }
    }

    /** As Relay.close. */
    void leave() {
        if (relay != null && isRunning()) {
            world.note(name, "is about to leave");
            ending = true;
            endBy = world.now() + STOP_TIME;
            relay.taking(false);
        }
    }

    private void tick() {
        if (isOver() || relay == null || (ending && loops.areEnded())) {
            return;
        }
        if (isPaused()) {
            world.schedule.in(nanosPaused(), this::tick);
            return;
        }
        long before = world.now();
        ticking = true;
        try {
            feed.tick(relay.report());
        } catch (FeedException e) {
            world.note(name, "could not renew its lease");
        } catch (Crash e) {
            return;
        } finally {
            ticking = false;
        }
        world.schedule.at(before + feed.tickEvery(), this::tick);
        signOffIfDone();
    }

    /** Whether a loop that is this idle shall end. */
    boolean endsLoop(boolean idle) {
        return ending && (idle || world.now() >= endBy);
    }

    void loopEnded(boolean idle) {
        if (!idle) {
            world.note(name, "stops with events unanswered");
            unclean();
        }
        signOffIfDone();
    }

    private void signOffIfDone() {
        if (!ending || ticking || left || !loops.areEnded()) {
            return;
        }
        ticking = true;
        if (relay != null) {
            relay.deafen();
        }
        try {
            feed.leave();
        } catch (FeedException e) {
            world.note(name, "could not sign off");
        } catch (Crash e) {
            return;
        }
        world.note(name, "has left");
        world.count(Sometimes.RELAY_LEFT);
        left = true;
    }

    @Override
    public String toString() {
        return name;
    }
}
