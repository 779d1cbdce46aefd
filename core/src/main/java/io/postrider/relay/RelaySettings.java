// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.Objects;

/**
 * How a relay runs; made by {@link Relay#from}.
 *
 * @param name for people: in logs, in the table of relays and in the history
 * @param loops threads that read and settle, each for its part of the events; one suffices for most. 0: only what is
 *     committed in this process is sent
 * @param publishesOnCommit whether one thread more sends what is committed in this process at once
 * @param idlePoll the longest time between two looks at the table
 * @param answerTimeout how long a publisher may take to answer before its destination is taken to be down
 * @param stopTime how long {@link Relay#close} waits for answers; {@link Publisher#wrapUp} is called a quarter of it, at most 5 s,
 *     before its end
 * @param bell rung after commits in this process
 */
public record RelaySettings(
        String name,
        int loops,
        boolean publishesOnCommit,
        Window window,
        RetryPolicy retry,
        Duration idlePoll,
        Duration answerTimeout,
        Duration stopTime,
        RelayListener listener,
        Bell bell) {

    static Builder builder(Feed feed, Publisher publisher) {
        return new Builder(feed, publisher);
    }

    /** Waits for the publisher. */
    @FunctionalInterface
    public interface To {
        Builder to(Publisher publisher);
    }

    /** Collects what differs from the defaults; not thread-safe. */
    public static final class Builder {
        private final Feed feed;
        private final Publisher publisher;
        private String name = "relay-" + ProcessHandle.current().pid();
        private int loops = 1;
        private boolean publishesOnCommit;
        private boolean leavesTheRest;
        private Window window = Window.ofDefaults();
        private RetryPolicy retry = RetryPolicy.ofDefaults();
        private Duration idlePoll = Duration.ofMillis(500);
        private Duration answerTimeout = Duration.ofSeconds(60);
        private Duration stopTime = Duration.ofSeconds(20);
        private RelayListener listener = new RelayListener() {};
        private Bell bell = new Bell();

        private Builder(Feed feed, Publisher publisher) {
            this.feed = Objects.requireNonNull(feed, "feed");
            this.publisher = Objects.requireNonNull(publisher, "publisher");
        }

        /** For people; by default the process id. */
        public Builder name(String name) {
            this.name = Objects.requireNonNull(name, "name");
            return this;
        }

        /** More than one pays only when a single loop is the limit; each needs a connection, and takes a second one in a backlog. */
        public Builder loops(int loops) {
            if (loops < 1 || loops > 64) {
                throw new IllegalArgumentException("A relay has 1 to 64 loops, not " + loops + ".");
            }
            this.loops = loops;
            return this;
        }

        public Builder window(Window window) {
            this.window = Objects.requireNonNull(window, "window");
            return this;
        }

        public Builder retry(RetryPolicy retry) {
            this.retry = Objects.requireNonNull(retry, "retry");
            return this;
        }

        public Builder idlePoll(Duration idlePoll) {
            this.idlePoll = positive("idlePoll", idlePoll);
            return this;
        }

        public Builder answerTimeout(Duration answerTimeout) {
            this.answerTimeout = positive("answerTimeout", answerTimeout);
            return this;
        }

        public Builder stopTime(Duration stopTime) {
            this.stopTime = positive("stopTime", stopTime);
            return this;
        }

        public Builder listener(RelayListener listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /** Wakes the relay at each commit that rings this bell, such as that of an outbox in the same process. */
        public Builder wokenBy(Bell bell) {
            this.bell = Objects.requireNonNull(bell, "bell");
            return this;
        }

        /**
         * Sends the events of an outbox in the same process at their commit, without waiting for the next look at the table, also
         * those whose shards other relays own. Whatever cannot be sent so is found by its loops, as without this.
         */
        public Builder publishesOnCommit(Bell bell) {
            this.publishesOnCommit = true;
            return wokenBy(bell);
        }

        /**
         * Does nothing but {@link #publishesOnCommit}: relays in other processes deliver the rest, and there must be one.
         */
        public Builder publishesOnlyOnCommit(Bell bell) {
            this.leavesTheRest = true;
            return publishesOnCommit(bell);
        }

        public Relay build() {
            RelaySettings settings = new RelaySettings(
                    name,
                    leavesTheRest ? 0 : loops,
                    publishesOnCommit,
                    window,
                    retry,
                    idlePoll,
                    answerTimeout,
                    stopTime,
                    listener,
                    bell);
            return new Relay(feed, publisher, settings);
        }

        private static Duration positive(String what, Duration duration) {
            if (duration.isNegative() || duration.isZero()) {
                throw new IllegalArgumentException(what + " is " + duration + ". Give more than zero.");
            }
            return duration;
        }
    }
}
