// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Answers when the test says so. For one thread. */
final class HeldPublisher implements Publisher {
    /** Everything that was published, in order. */
    final List<OutboxEvent> sent = new ArrayList<>();

    private final Map<OutboxEvent, List<CompletableFuture<Void>>> unanswered = new LinkedHashMap<>();

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        sent.add(event);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        unanswered.computeIfAbsent(event, e -> new ArrayList<>()).add(answer);
        return answer;
    }

    /** What waits for an answer, oldest first. */
    List<OutboxEvent> unanswered() {
        return List.copyOf(unanswered.keySet());
    }

    void acknowledge(OutboxEvent event) {
        answers(event).forEach(answer -> answer.complete(null));
    }

    void fail(OutboxEvent event, Throwable failure) {
        answers(event).forEach(answer -> answer.completeExceptionally(failure));
    }

    private List<CompletableFuture<Void>> answers(OutboxEvent event) {
        List<CompletableFuture<Void>> answers = unanswered.remove(event);
        if (answers == null) {
            throw new AssertionError("Not under way: " + event);
        }
        return answers;
    }
}
