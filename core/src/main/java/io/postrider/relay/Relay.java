// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries events from a feed to a publisher until it is closed.
 *
 * <pre>{@code
 * Relay relay = Relay.from(OrderedFeed.of(dataSource)).to(KafkaPublisher.create(properties)).build();
 * relay.start();
 * }</pre>
 *
 * <p>Runs one thread per loop and one that keeps its place among the other relays. Any number of relays, in any number of
 * processes, share the work. Thread-safe. {@link #close} also closes the publisher.
 */
public final class Relay implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /** How much of the stop time is left, at most, when the publisher is told to wrap up. */
    private static final Duration WRAP_UP = Duration.ofSeconds(5);

    /** How long after the stop time a loop may be in its last statement. */
    private static final Duration LAST_STATEMENT = Duration.ofSeconds(2);

    /** What could not be sent at its commit waits no longer than this to be given to the other loops. */
    private static final Duration LOOK_AT_RETURNS_EVERY = Duration.ofMillis(50);

    private enum State {
        NEW,
        RUNNING,
        CLOSED
    }

    private final Feed feed;
    private final Publisher publisher;
    private final RelaySettings settings;
    private final Gates gates = new Gates(new SplittableRandom());
    private final Told told;
    private final Slots slots;
    private State state = State.NEW;
    private final List<LoopThread> loops = new CopyOnWriteArrayList<>();
    private @Nullable MembershipThread membership;
    private volatile @Nullable CommitDesk desk;
    private volatile @Nullable CommitIntake commits;
    private Runnable deafen = () -> {};
    private boolean toldWhenDue;

    Relay(Feed feed, Publisher publisher, RelaySettings settings) {
        this.feed = feed;
        this.publisher = publisher;
        this.settings = settings;
        this.told = new Told(settings.name(), settings.listener());
        this.slots = new Slots(publisher.traits().mostUnderWay());
    }

    /** Starts to describe a relay. */
    public static RelaySettings.To from(Feed feed) {
        return publisher -> RelaySettings.builder(feed, publisher);
    }

    /**
     * Begins to deliver, and returns once it is one of the live relays.
     *
     * @throws FeedException if the database cannot be reached
     * @throws OutboxException if the settings contradict what is stored, or it was started before
     */
    public synchronized void start() {
        begin();
        @Nullable Membership joined = null;
        try {
            joined = feed.join(new Feed.Joining(settings.name(), settings.loops(), false));
            toldWhenDue = joined.onDue(nanos -> loops.forEach(each -> each.loop.dueIn(nanos)));
            for (int i = 0; i < settings.loops(); i++) {
                loops.add(new LoopThread(settings.name() + "-loop-" + i, joined.intake(i)));
            }
            Bell.Hearer hearer =
                    settings.publishesOnCommit() ? openDesk(joined) : () -> loops.forEach(each -> each.loop.ring());
            membership = new MembershipThread(settings.name(), joined, loops, this::report);
            deafen = settings.bell().onRing(hearer);
        } catch (RuntimeException e) {
            state = State.NEW;
            loops.clear();
            leaveQuietly(joined);
            throw e;
        }
        membership.start();
        loops.forEach(Thread::start);
        log.info("Relay {} started", settings.name());
    }

    private static void leaveQuietly(@Nullable Membership joined) {
        try {
            if (joined != null) {
                joined.leave();
            }
        } catch (RuntimeException e) {
            log.debug("A place that was not needed runs out by itself", e);
        }
    }

    private CommitDesk openDesk(Membership joined) {
        List<Loop> searching = loops.stream().map(each -> each.loop).toList();
        // Also for others who hear the bell, and tell relays elsewhere.
        CommitIntake intake = joined.commits(settings.bell()::ring);
        LoopThread sending = new LoopThread(settings.name() + "-commits", intake);
        loops.add(sending);
        CommitDesk opened =
                new CommitDesk(intake, gates, told, new CommitDesk.Loops(searching, sending.loop), System::nanoTime);
        commits = intake;
        desk = opened;
        return opened;
    }

    /** Stops taking events and leaves them to other relays, after finishing what is under way. */
    public synchronized void pause() {
        share(false);
        log.info("Relay {} paused", settings.name());
    }

    public synchronized void resume() {
        share(true);
        log.info("Relay {} resumed", settings.name());
    }

    private void share(boolean wanted) {
        if (state != State.RUNNING || membership == null) {
            throw new OutboxException("Relay " + settings.name() + " is not running. Start it first.");
        }
        if (desk != null) {
            desk.open(wanted);
        }
        loops.forEach(each -> each.loop.taking(wanted));
        if (settings.loops() > 0) {
            membership.wants(wanted);
        }
    }

    /**
     * One pass instead of a running relay: delivers what is there and owned by no running relay, then leaves.
     *
     * @param limit stop taking after this many events were delivered
     */
    public DrainResult drain(long limit) {
        return drain(limit, Duration.ofDays(36_500));
    }

    /**
     * The same, but takes nothing more when this time has passed; what is under way then is finished.
     *
     * @param within how long to take events
     */
    public DrainResult drain(long limit, Duration within) {
        begin();
        try {
            Membership joined = feed.join(new Feed.Joining(settings.name(), 1, true));
            try (Intake intake = joined.intake(0)) {
                Thread caller = Thread.currentThread();
                Loop loop = newLoop(intake, () -> LockSupport.unpark(caller));
                return new Drain(joined, loop, told, this::wrapUp).run(limit, within, settings.stopTime());
            } finally {
                joined.leave();
            }
        } finally {
            synchronized (this) {
                state = State.CLOSED;
            }
            publisher.close();
        }
    }

    /**
     * Takes nothing more, waits for what is under way (at most the stop time), settles it, leaves its place to others and
     * closes the publisher. Repeating it does nothing.
     */
    @Override
    public synchronized void close() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        // Nothing more is leased; what was leased before is taken in for as long as the loops go on.
        if (desk != null) {
            desk.open(false);
        }
        long deadline = System.nanoTime() + settings.stopTime().toNanos();
        loops.forEach(each -> each.finish(deadline));
        long wrapUpAt = deadline - timeToWrapUp(settings.stopTime());
        loops.forEach(each -> each.awaitEnd(wrapUpAt));
        if (loops.stream().anyMatch(Thread::isAlive)) {
            wrapUp(deadline);
        }
        loops.forEach(each -> each.awaitEnd(deadline + LAST_STATEMENT.toNanos()));
        deafen.run();
        if (membership != null) {
            membership.leave();
            log.info("Relay {} stopped, {} events published", settings.name(), told.publishedCount());
        }
        publisher.close();
    }

    static long timeToWrapUp(Duration stopTime) {
        return Math.min(WRAP_UP.toNanos(), stopTime.toNanos() / 4);
    }

    private void wrapUp(long deadline) {
        try {
            publisher.wrapUp(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        } catch (RuntimeException e) {
            log.warn("The publisher of relay {} could not wrap up", settings.name(), e);
        }
    }

    /** Events delivered and settled since the start. */
    public long publishedCount() {
        return told.publishedCount();
    }

    /**
     * How many of them were published on commit: under a lease, or, where nothing had to be leased, at the first attempt by the
     * relay of the process that had appended them.
     */
    public long publishedOnCommitCount() {
        CommitIntake intake = commits;
        return told.own().publishedCount() + (intake == null ? 0 : intake.settledCount());
    }

    /** Events taken and not yet settled. */
    public int inFlight() {
        return loops.stream().mapToInt(each -> each.loop.inFlight()).sum();
    }

    /** How long ago the loop that is furthest behind went through its last turn; some seconds mean that it is stuck. */
    public Duration sinceLastTurn() {
        long now = System.nanoTime();
        return Duration.ofNanos(loops.stream()
                .mapToLong(each -> Math.max(0, now - each.lastTurn()))
                .max()
                .orElse(0));
    }

    public String name() {
        return settings.name();
    }

    private synchronized void begin() {
        if (state != State.NEW) {
            throw new OutboxException("Relay " + settings.name() + " is "
                    + state.name().toLowerCase(Locale.ROOT) + " and cannot be started again. Build a new one.");
        }
        state = State.RUNNING;
    }

    private Membership.Report report() {
        return new Membership.Report(inFlight(), told.publishedCount(), gates.closed());
    }

    private Loop newLoop(Intake intake, Runnable wake) {
        // Not the default one: on Java 17 that is looked for by way of the calling thread, and is missing in some
        // containers.
        RandomGenerator random = new SplittableRandom();
        // Each loop polls for its own part, so that the whole process asks as often as one loop would. One that sends
        // commits asks nobody but itself.
        Duration idle = intake instanceof CommitIntake
                ? LOOK_AT_RETURNS_EVERY
                : settings.idlePoll().multipliedBy(settings.loops());
        Pace pace = new Pace(settings.name(), System::nanoTime, random, idle, toldWhenDue);
        Publisher.Traits traits = publisher.traits();
        Duration patience = traits.answersWithin().compareTo(settings.answerTimeout()) > 0
                ? traits.answersWithin()
                : settings.answerTimeout();
        Window window = settings.window().forAtMost(traits.mostUnderWay());
        Judge judge = new Judge(settings.retry(), random);
        Shared shared = new Shared(window, judge, gates, told, patience, slots, this::leasesCommits);
        return new Loop(intake, publisher, shared, pace, wake);
    }

    private boolean leasesCommits() {
        CommitDesk opened = desk;
        return opened != null && opened.leases();
    }

    /** Runs one loop. */
    private final class LoopThread extends Thread implements MembershipThread.Checkpoint {
        private final Intake intake;
        private final Loop loop;
        private volatile long lastTurn = System.nanoTime();
        private volatile long endBy;
        private volatile boolean ending;

        LoopThread(String name, Intake intake) {
            super("postrider-" + name);
            // Whoever started it: a process that only delivers lives as long as its relay.
            setDaemon(false);
            this.intake = intake;
            this.loop = newLoop(intake, () -> LockSupport.unpark(this));
        }

        @Override
        public void run() {
            try (intake) {
                while (!(ending && (loop.isIdle() || System.nanoTime() - endBy >= 0))) {
                    long wait = turn();
                    lastTurn = System.nanoTime();
                    if (wait > 0 && !(ending && loop.isIdle())) {
                        LockSupport.parkNanos(this, wait);
                        // An interrupt is nobody's way to stop a relay, and must not turn waiting into spinning.
                        Thread.interrupted();
                    }
                }
                if (!loop.isIdle()) {
                    log.warn(
                            "Relay {} stops with {} events unanswered; they will be sent again",
                            settings.name(),
                            loop.inFlight());
                }
            }
        }

        private long turn() {
            try {
                return loop.turn();
            } catch (RuntimeException | Error e) {
                // A bug, not an outage: the turn is lost, the events are not.
                log.error("Relay {} met an unexpected error and goes on", settings.name(), e);
                return Duration.ofSeconds(1).toNanos();
            }
        }

        @Override
        public long lastTurn() {
            return lastTurn;
        }

        void finish(long deadline) {
            endBy = deadline;
            ending = true;
            loop.taking(false);
        }

        void awaitEnd(long deadline) {
            boolean interrupted = false;
            while (isAlive() && deadline - System.nanoTime() > 0) {
                try {
                    join(50);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
