// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.OutboxEvent;
import io.postrider.relay.Outcome;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One record on its way to the dead-letter topic, sent until it is taken. What the topic refuses for what it is, such as its
 * size, is sent without its value, then without its own headers too: it says where the record is. For one thread.
 */
final class DeadLetter {
    static final Duration SEND_AGAIN_AFTER = Duration.ofSeconds(1);
    private static final Logger log = LoggerFactory.getLogger(DeadLetter.class);
    /** What is left out of a letter, one more each time that it is refused. */
    private static final List<String> PARTS = List.of("value", "headers");

    private final Verdict verdict;
    private final Arrival arrival;
    private final KafkaPublisher publisher;
    private final Runnable taken;
    private final Runnable answered;
    private CompletableFuture<?> answer;
    private int leftOut;
    private boolean waits;
    private boolean toldOfParts;
    private boolean toldOfWait;
    private long failedAt;

    /**
     * Sends it.
     *
     * @param taken called, by whatever thread, when the topic has it
     * @param answered called, by whatever thread, after each answer
     */
    DeadLetter(Verdict verdict, Arrival arrival, KafkaPublisher publisher, Runnable taken, Runnable answered) {
        this.verdict = verdict;
        this.arrival = arrival;
        this.publisher = publisher;
        this.taken = taken;
        this.answered = answered;
        this.answer = publish();
        listen();
    }

    Verdict verdict() {
        return verdict;
    }

    boolean isTaken() {
        return answer.isDone() && !answer.isCompletedExceptionally();
    }

    boolean hasFailed() {
        return answer.isCompletedExceptionally();
    }

    /** Whether whoever has its partition now handles it anew, so that it is not to be sent again. */
    boolean isAnothers() {
        return arrival.assignment().isGone();
    }

    /** For one that has failed: sends it again, without what is too large at once, otherwise when it is time to. */
    void sendAgain(long now) {
        if (waits) {
            if (now - failedAt >= SEND_AGAIN_AFTER.toNanos()) {
                waits = false;
                leftOut = 0;
                send();
            }
            return;
        }
        Throwable failure = failure();
        if (failure instanceof PermanentFailureException && leftOut < PARTS.size()) {
            leftOut++;
            if (!toldOfParts) {
                toldOfParts = true;
                log.warn(
                        "{} was refused by the dead-letter topic and is written there in part, with headers that say where"
                                + " it is; give that topic a max.message.bytes as large as the received topics have: {}",
                        arrival.event(),
                        failure.getMessage());
            }
            send();
            return;
        }
        waits = true;
        failedAt = now;
        if (!toldOfWait) {
            toldOfWait = true;
            log.warn(
                    "{} could not be written to the dead-letter topic and holds its key until it can: {}",
                    arrival.event(),
                    failure.getMessage());
        }
    }

    private void send() {
        answer = publish();
        listen();
    }

    /** Its answer is there when the arrival knows of it, and before anybody looks. */
    private CompletableFuture<?> publish() {
        Outcome.Failed outcome = verdict.outcome();
        return publisher
                .publishDead(letter(), outcome.code(), outcome.message())
                .toCompletableFuture()
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        taken.run();
                    }
                });
    }

    private void listen() {
        var unused = answer.whenComplete((done, failure) -> answered.run());
    }

    private Throwable failure() {
        Throwable failure = answer.handle((done, thrown) -> thrown).join();
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private String missing() {
        return String.join(", ", PARTS.subList(0, leftOut));
    }

    private OutboxEvent letter() {
        OutboxEvent event = arrival.event();
        TopicPartition source = arrival.assignment().partition();
        int attempts = verdict.delivery().attempts() + 1;
        OutboxEvent.Builder letter = OutboxEvent.of(event.stream(), event.type())
                .id(event.id())
                .occurredAt(event.occurredAt())
                .headers(leftOut < 2 ? event.headers() : Map.of())
                .header(HeaderNames.OUTCOME, verdict.outcome() instanceof Outcome.Unknown ? "UNKNOWN" : "DEAD")
                .header(HeaderNames.ATTEMPTS, Integer.toString(attempts))
                .header(HeaderNames.SOURCE_TOPIC, source.topic())
                .header(HeaderNames.SOURCE_PARTITION, Integer.toString(source.partition()))
                .header(HeaderNames.SOURCE_OFFSET, Long.toString(arrival.offset()));
        if (leftOut > 0) {
            letter.header(HeaderNames.LEFT_OUT, missing());
        }
        event.key().ifPresentOrElse(letter::key, letter::unkeyed);
        if (event.aggregateType().isPresent() || event.aggregateId().isPresent()) {
            letter.aggregate(
                    event.aggregateType().orElse(""), event.aggregateId().orElse(""));
            event.key().ifPresentOrElse(letter::key, letter::unkeyed);
        }
        byte[] payload = event.payload();
        if (payload != null && leftOut == 0) {
            event.contentType().ifPresentOrElse(type -> letter.payload(payload, type), () -> letter.payload(payload));
        }
        return letter.buildStored();
    }
}
