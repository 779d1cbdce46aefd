// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.relay.FeedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs statements step by step, so that those of several clients interleave, and loses some of them or their answers. */
final class Database {
    private enum Fate {
        FINE,
        /** It never gets there. */
        REFUSED,
        /** It fails when it has its locks. */
        ABORTED,
        /** It is committed, and the client hears of a failure. */
        REPLY_LOST,
        /** The client hears of a failure, and it runs later. */
        GIVEN_UP
    }

    /** Those whose fence matters most, if they run when their client has been replaced. */
    private static final Set<String> DOUBTFUL = Set.of("verdict", "mark");

    private static final Set<String> FAILS_OFTEN = Set.of("verdict", "release", "mark");

    private final World world;
    private final Consumer<Tables> shardsChanged;
    private final Locks locks = new Locks();
    private final List<Running<?>> running = new ArrayList<>();
    private final List<Running<?>> waiting = new ArrayList<>();
    private final Deque<Node> blocked = new ArrayDeque<>();
    private Tables tables = new Tables();
    private boolean down;

    /** @param shardsChanged told of the tables of which shards have other owners now */
    Database(World world, Consumer<Tables> shardsChanged) {
        this.world = world;
        this.shardsChanged = shardsChanged;
    }

    Tables tables() {
        return tables;
    }

    <T> T run(Node node, String name, Statement<T> statement) {
        Running<T> one = new Running<>(node, node.name(), name, statement);
        one.start(fate(name));
        blocked.push(node);
        try {
            world.schedule.until(() -> node.isCrashed() || (one.heard && !node.isPaused()));
        } finally {
            blocked.pop();
        }
        if (node.isCrashed()) {
            throw new Crash();
        }
        if (one.failed) {
            throw new FeedException("No answer to: " + name, new IllegalStateException());
        }
        return one.result();
    }

    /** For those who wait for nothing; what fails is not heard of. */
    <T> void submit(String actor, String name, Statement<T> statement, Consumer<T> then) {
        Running<T> one = new Running<>(null, actor, name, statement);
        one.then = then;
        one.start(Fate.FINE);
    }

    /** Changes rows at once, as a transaction whose commit comes now. */
    void commit(Consumer<Tables> change) {
        Tables next = tables.copy();
        change.accept(next);
        tables = next;
    }

    boolean isDown() {
        return down;
    }

    void down(boolean down) {
        this.down = down;
        world.note("database", down ? "is down" : "is up");
        if (down) {
            world.count(Sometimes.DATABASE_OUTAGE);
            List.copyOf(running).forEach(Running::abort);
        }
    }

    /** What it had not heard of yet may or may not get there. */
    void crashed(Node node) {
        for (Running<?> one : List.copyOf(running)) {
            if (one.node == node) {
                switch (one.name) {
                    case "settle" -> world.count(Sometimes.CRASH_DURING_SETTLE);
                    case "verdict" -> world.count(Sometimes.CRASH_DURING_VERDICT);
                    case "take" -> world.count(Sometimes.CRASH_DURING_TAKE);
                    case "mark" -> world.count(Sometimes.CRASH_DURING_MARK);
                    default -> {}
                }
                one.nobodyWaits = true;
                if (world.dice.chance(0.3)) {
                    one.abort();
                }
            }
        }
    }

    /** Whether nobody else waits below this node, who would have to wait with it. */
    boolean mayPause(Node node) {
        boolean below = false;
        for (Iterator<Node> up = blocked.descendingIterator(); up.hasNext(); ) {
            Node next = up.next();
            if (next == node && below) {
                return false;
            }
            below |= next != node;
        }
        return true;
    }

    private Fate fate(String name) {
        double likely = world.mood.statementFaults() * (FAILS_OFTEN.contains(name) ? 5 : 1);
        if (!world.stormy || !world.dice.chance(likely)) {
            return Fate.FINE;
        }
        world.count(Sometimes.STATEMENT_FAILED);
        return world.dice.pick(List.of(Fate.REFUSED, Fate.ABORTED, Fate.REPLY_LOST, Fate.REPLY_LOST, Fate.GIVEN_UP));
    }

    private final class Running<T> {
        final @Nullable Node node;
        final String actor;
        final String name;
        final Statement<T> statement;
        Consumer<T> then = result -> {};
        Fate fate = Fate.FINE;
        boolean ended;
        boolean nobodyWaits;
        boolean heard;
        boolean failed;
        private int locked;
        private boolean waited;
        private @Nullable T result;

        Running(@Nullable Node node, String actor, String name, Statement<T> statement) {
            this.node = node;
            this.actor = actor;
            this.name = name;
            this.statement = statement;
        }

        void start(Fate drawn) {
            fate = drawn;
            running.add(this);
            world.note(actor, "asks", statement, drawn == Fate.FINE ? "" : drawn);
            if (drawn == Fate.REFUSED) {
                world.schedule.in(world.moment(), this::abort);
                return;
            }
            long delay = world.moment();
            if (drawn == Fate.GIVEN_UP) {
                world.schedule.in(delay, this::hearFailure);
                nobodyWaits = true;
                delay += pause();
                if (node != null && DOUBTFUL.contains(name) && world.dice.chance(0.4)) {
                    world.schedule.in(world.dice.millis(0, 5), node::mishap);
                }
            }
            world.schedule.in(delay, this::look);
        }

        private void look() {
            if (mayGoOn()) {
                statement.look(tables, world.now());
                world.schedule.in(pause(), this::lock);
            }
        }

        private void lock() {
            if (!mayGoOn()) {
                return;
            }
            List<Statement.Lock> wanted = statement.locks();
            for (; locked < wanted.size(); locked++) {
                if (!locks.take(this, wanted.get(locked))) {
                    if (!waited) {
                        waited = true;
                        world.count(Sometimes.LOCK_WAITED_FOR);
                        world.note(actor, "waits with", name, "for", wanted.get(locked));
                    }
                    waiting.add(this);
                    return;
                }
            }
            if (fate == Fate.ABORTED) {
                abort();
                return;
            }
            statement.recheck(tables, world.now());
            world.schedule.in(pause(), this::write);
        }

        private void write() {
            if (!mayGoOn()) {
                return;
            }
            Tables next = tables.copy();
            T written = statement.write(next, world.now());
            if (next.shards() != tables.shards()) {
                shardsChanged.accept(next);
            }
            tables = next;
            result = written;
            world.note(actor, "ran ", name, "->", written == null ? "" : written);
            end();
            then.accept(written);
            switch (fate) {
                case REPLY_LOST -> {
                    countLost();
                    world.schedule.in(world.moment(), this::hearFailure);
                }
                case GIVEN_UP -> world.count(Sometimes.STATEMENT_RAN_AFTER_IT_WAS_GIVEN_UP);
                default -> world.schedule.in(world.moment(), () -> heard = true);
            }
        }

        /** One that nobody waits for any more may take any time: it outlives its client's lease. */
        private long pause() {
            boolean stuck = nobodyWaits && world.dice.chance(0.4);
            return stuck ? world.dice.millis(1, 1.5 * world.mood.lease().toMillis()) : world.moment();
        }

        private void countLost() {
            switch (name) {
                case "settle" -> world.count(Sometimes.SETTLE_REPLY_LOST);
                case "verdict" -> world.count(Sometimes.VERDICT_REPLY_LOST);
                case "take" -> world.count(Sometimes.TAKE_REPLY_LOST);
                case "mark" -> world.count(Sometimes.MARK_REPLY_LOST);
                case "release" -> world.count(Sometimes.RELEASE_REPLY_LOST);
                default -> {}
            }
        }

        private boolean mayGoOn() {
            if (down) {
                abort();
            }
            return !ended;
        }

        void abort() {
            if (!ended) {
                end();
                world.schedule.in(world.moment(), this::hearFailure);
            }
        }

        private void end() {
            ended = true;
            running.remove(this);
            locks.free(this);
            List<Running<?>> next = List.copyOf(waiting);
            waiting.clear();
            next.forEach(other -> world.schedule.in(world.dice.millis(0, 0.1), other::lock));
        }

        private void hearFailure() {
            if (!heard) {
                world.note(actor, "hears of no answer to", name);
                failed = true;
                heard = true;
            }
        }

        @SuppressWarnings("NullAway") // what a statement returns may be null, and then its caller expects that
        T result() {
            return result;
        }
    }
}
