// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Intake;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one consumer receives, for one loop. A settled record is finished, and committed once all before it are. What is dead
 * or unknown is written to the dead-letter topic first; until that has answered it holds its key, and is not handled again.
 */
final class KafkaIntake implements Intake {
    private static final Logger log = LoggerFactory.getLogger(KafkaIntake.class);
    private static final Duration SEND_AGAIN_AFTER = Duration.ofSeconds(1);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

    private final ConsumerThread consumer;
    private final Arrivals arrivals;
    private final KafkaPublisher deadLetters;
    private final List<Leaving> leaving = new ArrayList<>();
    /** What the dead-letter topic has taken and nobody was told yet. */
    private final List<Verdict> written = new ArrayList<>();

    private Runnable look = () -> {};

    KafkaIntake(ConsumerThread consumer, KafkaPublisher deadLetters) {
        this.consumer = consumer;
        this.arrivals = consumer.arrivals();
        this.deadLetters = deadLetters;
    }

    /** On its way to the dead-letter topic. */
    private static final class Leaving {
        final Verdict verdict;
        final Arrival arrival;
        CompletableFuture<?> answer;
        long failedAt;
        boolean failed;

        Leaving(Verdict verdict, Arrival arrival, CompletableFuture<?> answer) {
            this.verdict = verdict;
            this.arrival = arrival;
            this.answer = answer;
        }
    }

    void onArrival(Runnable look) {
        this.look = look;
        consumer.onArrival(look);
    }

    void wants(boolean share) {
        consumer.wants(share);
    }

    @Override
    public Taken take(Demand demand) {
        hearDeadLetters();
        Taken taken = arrivals.take(demand, System.nanoTime());
        Optional<Duration> due = leaving.isEmpty() ? taken.nextDue() : Optional.of(SEND_AGAIN_AFTER);
        List<Verdict> judged = List.copyOf(written);
        written.clear();
        return new Taken(taken.deliveries(), taken.more(), due, judged, taken.complete());
    }

    @Override
    public void settle(List<Delivery> published) {
        arrivals.finish(published);
    }

    @Override
    public void settled(List<Delivery> gone) {
        arrivals.finish(gone);
    }

    @Override
    public List<Verdict> verdict(List<Verdict> verdicts) {
        List<Verdict> written = new ArrayList<>();
        for (Verdict verdict : verdicts) {
            Delivery delivery = verdict.delivery();
            if (verdict.outcome() instanceof Outcome.Retry retry) {
                if (arrivals.retry(delivery, System.nanoTime() + retry.delay().toNanos())) {
                    written.add(verdict);
                }
            } else {
                arrivals.leave(delivery)
                        .ifPresent(arrival -> leaving.add(new Leaving(verdict, arrival, send(verdict, arrival))));
            }
        }
        return written;
    }

    @Override
    public void release(List<Delivery> deliveries) {
        arrivals.release(deliveries);
    }

    /** Called every second also by a loop that takes nothing, while its partitions are handed over. */
    @Override
    public void writeReleases() {
        hearDeadLetters();
    }

    @Override
    public int size() {
        return arrivals.taken();
    }

    private CompletableFuture<?> send(Verdict verdict, Arrival arrival) {
        Outcome.Failed outcome = verdict.outcome();
        OutboxEvent event = verdict.delivery().event();
        CompletableFuture<?> answer = deadLetters
                .publishDead(
                        withOutcome(event, outcome, verdict.delivery().attempts() + 1),
                        outcome.code(),
                        outcome.message())
                .toCompletableFuture();
        return answer.whenComplete((done, failure) -> {
            if (failure == null) {
                arrivals.left(arrival);
            }
            look.run();
        });
    }

    private static OutboxEvent withOutcome(OutboxEvent event, Outcome.Failed outcome, int attempts) {
        OutboxEvent.Builder copy = OutboxEvent.of(event.stream(), event.type())
                .id(event.id())
                .occurredAt(event.occurredAt())
                .headers(event.headers())
                .header(HeaderNames.OUTCOME, outcome instanceof Outcome.Unknown ? "UNKNOWN" : "DEAD")
                .header(HeaderNames.ATTEMPTS, Integer.toString(attempts));
        event.key().ifPresentOrElse(copy::key, copy::unkeyed);
        if (event.aggregateType().isPresent() || event.aggregateId().isPresent()) {
            copy.aggregate(event.aggregateType().orElse(""), event.aggregateId().orElse(""));
            event.key().ifPresentOrElse(copy::key, copy::unkeyed);
        }
        byte[] payload = event.payload();
        if (payload != null) {
            event.contentType().ifPresentOrElse(type -> copy.payload(payload, type), () -> copy.payload(payload));
        }
        return copy.buildStored();
    }

    /** What the dead-letter topic has not taken is sent again for as long as its partition is not another's. */
    private void hearDeadLetters() {
        Iterator<Leaving> all = leaving.iterator();
        while (all.hasNext()) {
            Leaving each = all.next();
            if (!each.answer.isDone()) {
                continue;
            }
            if (!each.answer.isCompletedExceptionally()) {
                written.add(each.verdict);
                all.remove();
            } else if (each.arrival.assignment().isGone()) {
                all.remove();
            } else {
                sendAgain(each);
            }
        }
    }

    private void sendAgain(Leaving each) {
        long now = System.nanoTime();
        if (!each.failed) {
            each.failed = true;
            each.failedAt = now;
            log.warn(
                    "{} could not be written to the dead-letter topic and holds its key until it can",
                    each.arrival.event());
        } else if (now - each.failedAt >= SEND_AGAIN_AFTER.toNanos()) {
            each.failedAt = now;
            each.answer = send(each.verdict, each.arrival);
        }
    }

    /** Waits for the dead-letter topic, then has the consumer commit and leave its group. */
    @Override
    public void close() {
        CompletableFuture<?> all = CompletableFuture.allOf(
                leaving.stream().map(each -> each.answer).toArray(CompletableFuture<?>[]::new));
        try {
            var unused = all.handle((done, failure) -> done).get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.debug("The dead-letter topic has not answered for all", e);
        }
        if (leaving.stream().anyMatch(each -> !each.answer.isDone() || each.answer.isCompletedExceptionally())) {
            log.warn("The dead-letter topic did not answer; what was on its way there will be handled again");
        }
        consumer.end();
    }
}
