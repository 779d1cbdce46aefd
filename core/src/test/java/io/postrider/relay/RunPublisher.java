// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Offers runs, and delivers or refuses the oldest event of a run when the test says so. For one thread. */
class RunPublisher implements Publisher {
    /** Everything that was handed over, in order. */
    final List<OutboxEvent> sent = new ArrayList<>();

    private final List<Going> runs = new ArrayList<>();
    private final List<CompletableFuture<Object>> calledBack = new ArrayList<>();
    private final Consumer<OutboxEvent> delivered;

    /** @param delivered told before an event's answer comes */
    RunPublisher(Consumer<OutboxEvent> delivered) {
        this.delivered = delivered;
    }

    private record Waiting(OutboxEvent event, CompletableFuture<Object> answer) {}

    /** One run. */
    final class Going implements Run {
        private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
        private boolean broken;

        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            sent.add(event);
            if (broken) {
                return CompletableFuture.failedFuture(new NotSentException("BEHIND", "no"));
            }
            if (waiting.isEmpty()) {
                runs.add(this);
            }
            Waiting next = new Waiting(event, new CompletableFuture<>());
            waiting.add(next);
            return next.answer;
        }

        void deliver() {
            Waiting head = waiting.remove();
            if (waiting.isEmpty()) {
                runs.remove(this);
            }
            delivered.accept(head.event);
            head.answer.complete("taken");
        }

        /** What is behind the refused one is called back, which is heard by {@link #answerCalledBack}. */
        void refuse(Throwable failure) {
            broken = true;
            runs.remove(this);
            Waiting head = waiting.remove();
            waiting.forEach(behind -> calledBack.add(behind.answer));
            waiting.clear();
            head.answer.completeExceptionally(failure);
        }
    }

    @Override
    public Optional<Run> run() {
        return Optional.of(new Going());
    }

    /** For events without a key. */
    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return new Going().publish(event);
    }

    /** Runs with something under way, oldest first. */
    List<Going> runs() {
        return List.copyOf(runs);
    }

    void answerCalledBack() {
        List<CompletableFuture<Object>> all = List.copyOf(calledBack);
        calledBack.clear();
        all.forEach(answer -> answer.completeExceptionally(new NotSentException("BEHIND", "no")));
    }
}
