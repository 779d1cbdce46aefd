// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class CourierTest {
    private final List<Courier.Answer> answers = new ArrayList<>();
    private Departure departure = departure(CourierTest::absent);

    @Test
    void anAnswerComesWhenTheStageCompletesAndNotBefore() {
        CompletableFuture<String> sent = new CompletableFuture<>();
        carry(event -> sent);
        assertThat(answers).isEmpty();
        sent.complete("offset 7");
        assertThat(answers).containsExactly(new Courier.Answer(departure, null));
    }

    @Test
    void theFailureOfTheStageIsTheAnswer() {
        RuntimeException failure = new IllegalStateException("no");
        carry(event -> CompletableFuture.failedFuture(failure));
        assertThat(answers).containsExactly(new Courier.Answer(departure, failure));
    }

    @Test
    void aPublisherThatThrowsHasAnswered() {
        RuntimeException failure = new IllegalStateException("no");
        carry(event -> {
            throw failure;
        });
        assertThat(answers).containsExactly(new Courier.Answer(departure, failure));
    }

    @Test
    void aPublisherWhoseClassesAreMissingHasAnswered() {
        NoClassDefFoundError failure = new NoClassDefFoundError("org/example/Client");
        carry(event -> {
            throw failure;
        });
        assertThat(answers).containsExactly(new Courier.Answer(departure, failure));
    }

    @Test
    void aPublisherThatReturnsNothingHasFailed() {
        carry(CourierTest::absent);
        assertThat(answers).hasSize(1);
        assertThat(answers.get(0).departure()).isSameAs(departure);
        assertThat(answers.get(0).failure()).hasMessage("The publisher returned no stage");
    }

    private void carry(Publisher publisher) {
        departure = departure(publisher);
        new Courier(answers::add).carry(departure);
    }

    private static Departure departure(Publisher publisher) {
        return new Departure(Deliveries.of(1, "s", "k"), new Lane("k", publisher::deliver, 1), 0);
    }

    @SuppressWarnings("NullAway")
    private static CompletionStage<?> absent(OutboxEvent event) {
        return null;
    }
}
