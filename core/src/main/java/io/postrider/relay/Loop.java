// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Carries events from one intake to the publisher, a {@link #turn} at a time: hear the answers, send the heads of the
 * lanes, write what is known, read what is next (that first, if it was woken for it). One statement at a time, so a read never
 * overlaps a verdict; sends overlap with everything, and in a backlog so do settles. Decides everything and owns no thread: {@link #turn} is called by one,
 * answers come from any.
 */
final class Loop {
    private static final long CHECK_TIMEOUTS_EVERY = Duration.ofSeconds(1).toNanos();

    private final Intake intake;
    /** Whether it looks for events by itself, and so can also try a destination that did not answer. */
    private final boolean searches;

    private final Shared shared;
    private final Courier courier;
    private final LongSupplier ticker;
    private final Pace pace;
    private final Runnable wake;
    private final boolean refusalsTell;

    private final Lanes lanes;
    private final Room room;
    private final Trials trials;
    private final Queue<Courier.Answer> answers = new ConcurrentLinkedQueue<>();
    private final Settles settles;
    /** What the settles have to do. */
    private final Unsettled unsettled;

    private final List<Verdict> verdicts = new ArrayList<>();
    private final AtomicBoolean rung = new AtomicBoolean(true);
    /** When something is due, as far as it was told and has not heard it yet. */
    private final AtomicReference<@Nullable Long> dueAt = new AtomicReference<>();

    private final AtomicBoolean called = new AtomicBoolean();
    private volatile boolean taking = true;
    private long timeoutsCheckedAt;
    private boolean leftOutFull;
    /** Whether it did all that it was asked for, the last time that it was asked. */
    private boolean feedIsWell;

    /** @param wake has {@link #turn} called soon; called from any thread */
    Loop(Intake intake, Publisher publisher, Shared shared, Pace pace, Runnable wake) {
        this.intake = intake;
        this.searches = !(intake instanceof CommitIntake);
        this.shared = shared;
        this.courier = new Courier(this::answered);
        this.lanes = new Lanes(publisher, intake.keepsOrder());
        this.room = new Room(shared.window(), lanes, intake.keepsOrder());
        this.trials = new Trials(intake, lanes, shared);
        this.ticker = pace.ticker();
        this.pace = pace;
        this.wake = wake;
        this.settles = new Settles(intake, lanes, shared, wake);
        this.unsettled = settles.waiting();
        this.refusalsTell = publisher.traits().isOneDestination();
        this.timeoutsCheckedAt = ticker.getAsLong();
    }

    /** Something was committed: read at once. From any thread. */
    void ring() {
        if (!rung.getAndSet(true)) {
            wake.run();
        }
    }

    /** Something will be due in so many nanoseconds: read then. From any thread. */
    void dueIn(long nanos) {
        if (nanos <= 0) {
            ring();
        } else {
            dueAt.set(ticker.getAsLong() + nanos);
            wake.run();
        }
    }

    /** Whether it may take more; if not, it finishes what is under way and drops the rest. From any thread. */
    void taking(boolean taking) {
        this.taking = taking;
        wake.run();
    }

    /** One turn; returns for how many nanoseconds nothing will be due unless something is heard. */
    long turn() {
        long now = ticker.getAsLong();
        // Before the answers are heard: one that comes later calls again.
        called.set(false);
        Long due = dueAt.getAndSet(null);
        if (due != null) {
            pace.readBy(due);
        }
        hear(now);
        if (settles.hear()) {
            pace.wrote();
        }
        if (!taking) {
            give(lanes.unsent(null));
        }
        send();
        try {
            if (pace.mayTouchFeed(now)) {
                boolean first = readsFirst();
                feedIsWell = false;
                boolean answered = first && read(now);
                if (answered) {
                    send();
                }
                answered |= write(now);
                if (!taking && intake instanceof CommitIntake commits) {
                    // Before releases are written: what it gives back it also tells of.
                    commits.giveBack();
                }
                intake.writeReleases();
                if (taking) {
                    answered |= searches && trials.tryNext(now);
                    answered |= read(now);
                }
                feedIsWell = true;
                if (answered) {
                    pace.feedAnswered();
                }
            }
        } catch (FeedException e) {
            pace.feedFailed(e, ticker.getAsLong());
        }
        send();
        return nanosToNextTurn(ticker.getAsLong());
    }

    /**
     * What was just committed need not wait for the commit of a settle. But it waits for verdicts, which hold keys back, and for
     * settles of what would be read again; and after a read that failed, what was delivered is settled first.
     */
    private boolean readsFirst() {
        return taking && rung.get() && verdicts.isEmpty() && !unsettled.isUrgent() && feedIsWell;
    }

    /** Whether nothing is under way and nothing is left to be written. */
    boolean isIdle() {
        return lanes.isEmpty() && settles.isEmpty() && verdicts.isEmpty() && answers.isEmpty();
    }

    /** Whether the last read found nothing that may be sent. */
    boolean foundNothing() {
        return pace.lastReadWasEmpty();
    }

    /** Whether what is committed now might have to wait, for a backlog or a slow read. From any thread. */
    boolean isBehind() {
        return pace.isBehind();
    }

    int inFlight() {
        return intake.size();
    }

    /** Delivered, and not yet recorded as such. */
    int unsettled() {
        return settles.size();
    }

    private void answered(Courier.Answer answer) {
        answers.add(answer);
        if (!called.getAndSet(true)) {
            wake.run();
        }
    }

    private void hear(long now) {
        Courier.Answer answer;
        while ((answer = answers.poll()) != null) {
            Throwable failure = answer.failure();
            if (failure == null) {
                hearSuccess(answer, now);
            } else if (answer.departure().isUnderWay()) {
                hearFailure(answer.departure(), Failure.of(failure), now);
            }
        }
        if (now - timeoutsCheckedAt > CHECK_TIMEOUTS_EVERY) {
            timeoutsCheckedAt = now;
            for (Departure late :
                    lanes.underWaySinceBefore(now - shared.answerTimeout().toNanos())) {
                hearFailure(late, Failure.noAnswer(shared.answerTimeout()), now);
            }
        }
    }

    private void hearSuccess(Courier.Answer answer, long now) {
        Departure departure = answer.departure();
        Delivery delivery = departure.delivery();
        // An answer that comes after its timeout is still a fact: the row is removed if it is as it was sent.
        boolean wasUnderWay = departure.isUnderWay();
        if (wasUnderWay) {
            shared.slots().give();
            conclude(lanes.advance(departure));
        } else {
            lanes.countAgain(delivery);
        }
        Told.Published done = new Told.Published(delivery, Duration.ofNanos(now - departure.at()));
        if (answer.settled()) {
            lanes.left(delivery);
            intake.settled(List.of(delivery));
            shared.told().published(done);
        } else if (wasUnderWay) {
            unsettled.add(done, now);
        } else {
            unsettled.addGivenUp(done, now);
        }
        String stream = delivery.event().stream();
        shared.gates().succeeded(stream, now).ifPresent(lasted -> {
            shared.told().outageEnded(stream, lasted);
            pace.readNow();
        });
    }

    private void hearFailure(Departure departure, Failure failure, long now) {
        shared.slots().give();
        Delivery delivery = departure.delivery();
        String stream = delivery.event().stream();
        boolean destination = failure.fault() == Failure.Fault.DESTINATION
                || (failure.fault() == Failure.Fault.EVENT_PERMANENT
                        && refusalsTell
                        && shared.gates().refused(stream, delivery.event().id()))
                || shared.gates().isClosed(stream);
        Optional<Duration> asked =
                failure.fault() == Failure.Fault.DESTINATION ? failure.retryAfter() : Optional.empty();
        if (destination && shared.gates().down(delivery, asked, now)) {
            shared.told().outageStarted(stream, failure);
        }
        conclude(lanes.fail(departure, failure));
        if (destination) {
            give(lanes.unsent(stream));
        }
    }

    /** Judges the oldest that failed; whatever was behind it goes again after it. */
    private void conclude(Lane.@Nullable Ended lane) {
        if (lane == null) {
            return;
        }
        for (Lane.Failed each : lane.failed()) {
            Delivery failed = each.delivery();
            boolean closed = shared.gates().isClosed(failed.event().stream());
            if (shared.judge().judge(failed, each.failure(), closed) instanceof Outcome.Failed outcome) {
                verdicts.add(new Verdict(failed, outcome));
            } else {
                give(List.of(failed));
            }
        }
        give(lane.rest());
    }

    private void send() {
        while (shared.slots().take(wake)) {
            // Asked for each: the process may stand still between two of them, for longer than it is entitled to send.
            long now = ticker.getAsLong();
            Departure next = lanes.next(now);
            if (next != null && next.delivery().mayStart(now)) {
                courier.carry(next);
                continue;
            }
            shared.slots().give();
            if (next == null) {
                return;
            }
            give(lanes.takeBack(next));
        }
    }

    /** Returns whether the feed was asked at all, as the other two do. */
    private boolean write(long now) {
        boolean asked = !verdicts.isEmpty();
        if (asked) {
            List<Verdict> written = intake.verdict(verdicts);
            verdicts.forEach(verdict -> lanes.left(verdict.delivery()));
            verdicts.clear();
            written.forEach(shared.told()::judged);
            pace.dueIn(written);
        }
        if (!unsettled.isEmpty() && nanosToSettle(now) == 0) {
            asked |= settles.settle(taking && pace.lastReadLeftMore());
        }
        if (asked) {
            pace.wrote();
        }
        return asked;
    }

    private boolean read(long now) {
        if (nanosToRead(now) > 0) {
            return false;
        }
        rung.set(false);
        Set<String> full = room.fullStreams();
        leftOutFull = !full.isEmpty();
        Set<String> closed = shared.gates().closed();
        full.addAll(closed);
        boolean done = false;
        try {
            long began = ticker.getAsLong();
            Taken taken = intake.take(room.demand(full).closed(closed));
            try {
                enter(taken.deliveries());
            } finally {
                taken.judged().forEach(shared.told()::judged);
            }
            pace.read(taken, leftOutFull, intake.putsOff(), began, ticker.getAsLong());
            done = true;
        } finally {
            if (!done) {
                // What was rung for has not been looked at.
                rung.set(true);
            }
        }
        return true;
    }

    /** If one cannot enter, it must not count as taken for ever, nor what comes behind it overtake it. */
    private void enter(List<Delivery> deliveries) {
        int entered = 0;
        try {
            for (Delivery each : deliveries) {
                lanes.enter(each);
                entered++;
            }
        } finally {
            intake.release(deliveries.subList(entered, deliveries.size()));
        }
    }

    private void give(List<Delivery> deliveries) {
        deliveries.forEach(lanes::left);
        deliveries.forEach(shared.gates()::gaveUp);
        intake.release(deliveries);
    }

    private long nanosToSettle(long now) {
        // What is sent at its commit waits for the settles of loops that search; behind its own kind it goes without.
        boolean inTheWay = searches && (shared.leasesCommits().getAsBoolean() || pace.lastReadLeftMore());
        boolean awaited = inTheWay || leftOutFull || room.isFull();
        return taking ? unsettled.nanosToSettle(now, lanes.rows(), awaited) : 0;
    }

    private long nanosToRead(long now) {
        if (room.isFull()) {
            return Long.MAX_VALUE;
        }
        boolean someFull = !room.fullStreams().isEmpty();
        if (leftOutFull && !someFull) {
            return 0;
        }
        boolean isRung = rung.get();
        long wait = Math.max(isRung ? 0 : pace.nanosToRead(now), pace.nanosToRest(now));
        return someFull ? Math.max(wait, pace.nanosToLookAtOthers(isRung, now)) : wait;
    }

    private long nanosToNextTurn(long now) {
        if (!answers.isEmpty()) {
            return 0;
        }
        long wait = CHECK_TIMEOUTS_EVERY;
        if (!verdicts.isEmpty()) {
            wait = 0;
        } else if (!unsettled.isEmpty()) {
            wait = nanosToSettle(now);
        }
        if (taking) {
            wait = Math.min(wait, nanosToRead(now));
            wait = searches ? Math.min(wait, shared.gates().nanosToTrial(now)) : wait;
        }
        if (!searches && intake.size() > 0) {
            // What it has leased must be extended in time, whether it takes more or not.
            wait = Math.min(wait, pace.idle());
        }
        return Math.max(wait, pace.nanosToFeed(now));
    }
}
