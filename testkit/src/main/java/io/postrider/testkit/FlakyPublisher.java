// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A publisher that fails, is late and loses answers now and then, in front of one that works.
 *
 * <pre>{@code
 * Publisher flaky = FlakyPublisher.around(publisher)
 *         .seed(42)
 *         .failures(0.1)
 *         .delays(0.2, Duration.ofMillis(50))
 *         .lostAnswers(0.05)
 *         .build();
 * }</pre>
 *
 * <p>The same seed makes the same choices for the same sequence of events. Thread-safe.
 */
public final class FlakyPublisher implements Publisher {
    private final Builder settings;
    private final SplittableRandom random;

    private FlakyPublisher(Builder settings) {
        this.settings = settings;
        this.random = new SplittableRandom(settings.seed);
    }

    /** Starts the description of a flaky publisher in front of this one. */
    public static Builder around(Publisher publisher) {
        return new Builder(publisher);
    }

    private record Mood(boolean fails, boolean losesAnswer, boolean silent, long delayNanos) {}

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        Mood mood = nextMood();
        if (mood.fails) {
            return CompletableFuture.failedStage(settings.failure.apply(event));
        }
        if (mood.delayNanos == 0) {
            return answered(event, mood);
        }
        Executor later = CompletableFuture.delayedExecutor(mood.delayNanos, TimeUnit.NANOSECONDS);
        return CompletableFuture.supplyAsync(() -> event, later).thenCompose(due -> answered(due, mood));
    }

    private synchronized Mood nextMood() {
        // Always four draws, so that one setting does not change what another one's draws decide.
        boolean fails = random.nextDouble() < settings.failures;
        boolean loses = random.nextDouble() < settings.lostAnswers;
        boolean silent = random.nextDouble() < settings.silences;
        double late = random.nextDouble();
        long delay = late < settings.delays ? (long) (late / settings.delays * settings.longest.toNanos()) : 0;
        return new Mood(fails, loses, silent, delay);
    }

    private CompletionStage<?> answered(OutboxEvent event, Mood mood) {
        CompletionStage<?> answer = settings.publisher.publish(event);
        if (mood.silent) {
            return new CompletableFuture<Void>();
        }
        if (mood.losesAnswer) {
            return answer.thenCompose(taken -> CompletableFuture.failedStage(new RetryableFailureException(
                    "ANSWER_LOST", "The answer for event " + event.id() + " was lost on purpose", null)));
        }
        return answer;
    }

    @Override
    public void close() {
        settings.publisher.close();
    }

    /** Collects how flaky it is; not thread-safe. Shares are between 0, never, and 1, always; all are 0 unless given. */
    public static final class Builder {
        private final Publisher publisher;
        private long seed;
        private double failures;
        private double lostAnswers;
        private double silences;
        private double delays;
        private Duration longest = Duration.ZERO;
        private Function<OutboxEvent, Throwable> failure = event ->
                new RetryableFailureException("FLAKY", "Event " + event.id() + " was refused on purpose", null);

        private Builder(Publisher publisher) {
            this.publisher = publisher;
        }

        private Builder(Builder other) {
            this(other.publisher);
            seed = other.seed;
            failures = other.failures;
            lostAnswers = other.lostAnswers;
            silences = other.silences;
            delays = other.delays;
            longest = other.longest;
            failure = other.failure;
        }

        /** What the choices are drawn from; 0 unless given. */
        public Builder seed(long seed) {
            this.seed = seed;
            return this;
        }

        /** The share of events that are not delivered and answered with a failure. */
        public Builder failures(double share) {
            this.failures = share(share);
            return this;
        }

        /** The failure with which those are answered; a {@link RetryableFailureException} unless given. */
        public Builder failure(Function<OutboxEvent, Throwable> failure) {
            this.failure = failure;
            return this;
        }

        /** The share of events that are delivered later, by up to this much. */
        public Builder delays(double share, Duration longest) {
            this.delays = share(share);
            this.longest = longest;
            return this;
        }

        /** The share of events that are delivered and nevertheless answered with a failure. */
        public Builder lostAnswers(double share) {
            this.lostAnswers = share(share);
            return this;
        }

        /** The share of events that are delivered and never answered. */
        public Builder silences(double share) {
            this.silences = share(share);
            return this;
        }

        /** Builds the publisher. */
        public FlakyPublisher build() {
            return new FlakyPublisher(new Builder(this));
        }

        private static double share(double share) {
            if (!(share >= 0 && share <= 1)) {
                throw new IllegalArgumentException("A share is between 0 and 1, not " + share);
            }
            return share;
        }
    }
}
