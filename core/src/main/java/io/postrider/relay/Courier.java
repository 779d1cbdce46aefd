// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The only caller of {@link Publisher#publish}. Every event handed to it gives exactly one answer, sooner or later. */
final class Courier {
    /** @param failure {@code null}: the destination has it */
    record Answer(Delivery delivery, @Nullable Throwable failure) {}

    private final Publisher publisher;
    private final Consumer<Answer> answers;

    /** @param answers called by whatever thread the publisher answers on */
    Courier(Publisher publisher, Consumer<Answer> answers) {
        this.publisher = publisher;
        this.answers = answers;
    }

    void carry(Delivery delivery) {
        CompletionStage<?> sent;
        try {
            sent = Objects.requireNonNull(publisher.publish(delivery.event()), "The publisher returned no stage");
        } catch (RuntimeException | LinkageError e) {
            answers.accept(new Answer(delivery, e));
            return;
        }
        var unused = sent.whenComplete((result, failure) -> answers.accept(new Answer(delivery, failure)));
    }
}
