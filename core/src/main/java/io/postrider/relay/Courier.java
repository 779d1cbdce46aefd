// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The only one who has events published. Every event handed to it gives exactly one answer, sooner or later. */
final class Courier {
    /**
     * @param failure {@code null}: the destination has it
     * @param settled whether the publisher has settled it too
     */
    record Answer(Departure departure, @Nullable Throwable failure, boolean settled) {
        Answer(Departure departure, @Nullable Throwable failure) {
            this(departure, failure, false);
        }
    }

    private final Consumer<Answer> answers;

    /** @param answers called by whatever thread the publisher answers on */
    Courier(Consumer<Answer> answers) {
        this.answers = answers;
    }

    void carry(Departure departure) {
        CompletionStage<?> sent;
        try {
            sent = Objects.requireNonNull(
                    departure.lane().send(departure.delivery()), "The publisher returned no stage");
        } catch (RuntimeException | LinkageError e) {
            answers.accept(new Answer(departure, e));
            return;
        }
        var unused = sent.whenComplete((result, failure) ->
                answers.accept(new Answer(departure, failure, result == Publisher.Settled.SETTLED)));
    }
}
