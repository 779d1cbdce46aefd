// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class FakesTest {
    private static final OutboxEvent PLACED =
            OutboxEvent.of("orders", "OrderPlaced").text("1").build();
    private static final OutboxEvent PAID =
            OutboxEvent.of("payments", "OrderPaid").text("2").build();

    @Test
    void theRecordingOutboxShowsWhatWasAppended() {
        RecordingOutbox outbox = new RecordingOutbox();
        outbox.append(PLACED);
        assertThat(outbox.only()).isSameAs(PLACED);
        outbox.append(List.of(PAID));

        assertThat(outbox.events()).containsExactly(PLACED, PAID);
        assertThat(outbox.events("payments")).containsExactly(PAID);
        assertThatThrownBy(outbox::only)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("found 2")
                .hasMessageContaining("OrderPaid");
        outbox.clear();
        assertThat(outbox.events()).isEmpty();

        OutboxEvent job = OutboxEvent.of("jobs", "T").dedupKey("nightly").build();
        outbox.append(
                List.of(job, OutboxEvent.of("jobs", "T").dedupKey("nightly").build()));
        assertThat(outbox.only()).isSameAs(job);
    }

    @Test
    void theRecordingPublisherTakesEverythingAtOnceUntilItIsToldToFail() {
        RecordingPublisher publisher = new RecordingPublisher();
        RetryableFailureException busy = new RetryableFailureException("BUSY", "busy", null);
        PermanentFailureException never = new PermanentFailureException("NEVER", "never");
        publisher.failNext(1, busy);
        publisher.failWhen(event -> event.type().equals("OrderPaid"), never);

        assertThat(publisher.publish(PLACED).toCompletableFuture()).isCompletedExceptionally();
        assertThat(publisher.publish(PLACED)).isCompleted();
        assertThatThrownBy(() -> publisher.publish(PAID).toCompletableFuture().join())
                .hasCause(never);
        publisher.failNone();
        assertThat(publisher.publish(PAID)).isCompleted();

        assertThat(publisher.events()).containsExactly(PLACED, PAID);
        assertThat(publisher.deliveries())
                .extracting(RecordingPublisher.Delivery::failed)
                .containsExactly(true, false, true, false);
        assertThat(publisher.deliveries())
                .extracting(RecordingPublisher.Delivery::arrivalNanos)
                .isSorted();
        publisher.clear();
        assertThat(publisher.deliveries()).isEmpty();
        assertThat(publisher.isClosed()).isFalse();
        publisher.close();
        assertThat(publisher.isClosed()).isTrue();
    }

    @Test
    void theRecordingPublisherHoldsAnswersUntilTheyAreReleased() {
        RecordingPublisher publisher = new RecordingPublisher();
        publisher.hold();
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            answers.add(publisher.publish(PLACED).toCompletableFuture());
        }
        publisher.awaitCount(3, Duration.ZERO);
        assertThat(publisher.held()).isEqualTo(3);
        assertThat(answers).noneMatch(CompletableFuture::isDone);

        assertThat(publisher.releaseOne()).isTrue();
        assertThat(answers).extracting(CompletableFuture::isDone).containsExactly(true, false, false);
        publisher.release();
        assertThat(answers).allMatch(CompletableFuture::isDone);
        assertThat(publisher.releaseOne()).isFalse();
        assertThat(publisher.publish(PAID)).isCompleted();
        assertThatThrownBy(() -> publisher.awaitCount(5, Duration.ofMillis(10)))
                .hasMessageContaining("Expected 5 deliveries within PT0.01S and saw 4");
    }

    @Test
    void theFlakyPublisherMakesTheSameChoicesForTheSameSeed() {
        assertThat(outcomes(1)).isEqualTo(outcomes(1)).isNotEqualTo(outcomes(2)).contains(true, false);
    }

    private static List<Boolean> outcomes(long seed) {
        List<Boolean> failed = new ArrayList<>();
        try (FlakyPublisher flaky = FlakyPublisher.around(new RecordingPublisher())
                .seed(seed)
                .failures(0.3)
                .build()) {
            for (int i = 0; i < 100; i++) {
                failed.add(flaky.publish(PLACED).toCompletableFuture().isCompletedExceptionally());
            }
        }
        return failed;
    }

    @Test
    void theFlakyPublisherDeliversWhatItsAnswerDenies() {
        RecordingPublisher publisher = new RecordingPublisher();
        try (FlakyPublisher losing =
                        FlakyPublisher.around(publisher).lostAnswers(1).build();
                FlakyPublisher silent =
                        FlakyPublisher.around(publisher).silences(1).build();
                FlakyPublisher late = FlakyPublisher.around(publisher)
                        .delays(1, Duration.ofMillis(20))
                        .build()) {
            assertThatThrownBy(
                            () -> losing.publish(PLACED).toCompletableFuture().join())
                    .hasRootCauseInstanceOf(RetryableFailureException.class)
                    .hasMessageContaining("lost on purpose");
            assertThat(silent.publish(PLACED).toCompletableFuture()).isNotDone();
            CompletableFuture<?> answer = late.publish(PAID).toCompletableFuture();
            Awaitility.await().until(answer::isDone);
            assertThat(publisher.events()).containsExactly(PLACED, PLACED, PAID);
        }
        assertThat(publisher.isClosed()).isTrue();
        assertThatThrownBy(() -> FlakyPublisher.around(publisher).failures(1.5))
                .hasMessage("A share is between 0 and 1, not 1.5");
    }

    @Test
    void theManualClockMovesOnlyWhenTold() {
        ManualClock clock = new ManualClock(Instant.EPOCH);
        clock.advance(Duration.ofSeconds(5));
        assertThat(clock.instant()).isEqualTo(Instant.ofEpochSecond(5));
        assertThat(clock.nanos()).isEqualTo(5_000_000_000L);
        clock.setWallClock(Instant.EPOCH);
        assertThat(clock.instant()).isEqualTo(Instant.EPOCH);
        assertThat(clock.getAsLong()).isEqualTo(5_000_000_000L);
        assertThatThrownBy(() -> clock.advance(Duration.ofSeconds(-1))).hasMessageContaining("does not go back");
    }
}
