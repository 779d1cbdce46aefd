// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.PermanentFailureException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Describes who handles the events of one stream and type; ended by {@link #run} or {@link #handle}, which return to the
 * registry. Immutable.
 */
public final class Route<T> {
    private final Function<Bound, Handlers.Builder> registry;
    private final Decoding<T> decoding;
    private final Terms terms;

    private Route(Function<Bound, Handlers.Builder> registry, Decoding<T> decoding, Terms terms) {
        this.registry = registry;
        this.decoding = decoding;
        this.terms = terms;
    }

    static Route<OutboxEvent> to(Function<Bound, Handlers.Builder> registry, Duration timeout) {
        return new Route<>(registry, Delivery::event, new Terms(timeout, false));
    }

    /** For how long a handler may run, and what it means if that was too short. */
    record Terms(Duration timeout, boolean timeoutIsUnknown) {}

    /** A handler with its terms. */
    record Bound(Terms terms, SettlingHandler handler) {}

    private interface Decoding<T> {
        T decode(Delivery delivery);
    }

    /** Work that is done when it returns. */
    @FunctionalInterface
    public interface Work<T> {
        void on(T message) throws Exception;
    }

    /** How long the handler may run before it is interrupted; 30 s unless the registry says otherwise. */
    public Route<T> within(Duration timeout) {
        return new Route<>(
                registry, decoding, new Terms(Handlers.positive("timeout", timeout), terms.timeoutIsUnknown));
    }

    /** A handler that was interrupted may have had its effect: the event becomes unknown, rather than being tried again. */
    public Route<T> timeoutIsUnknown() {
        return new Route<>(registry, decoding, new Terms(terms.timeout, true));
    }

    /** Gives the handler what this makes of the payload; an event without a payload cannot be read so. */
    public <M> Route<M> as(Decoder<M> decoder) {
        Objects.requireNonNull(decoder, "decoder");
        return new Route<>(registry, delivery -> decoded(delivery, decoder), terms);
    }

    /** Runs this, which is done when it returns, and retried when it throws. */
    public Handlers.Builder run(Work<T> work) {
        Objects.requireNonNull(work, "work");
        return handle((message, context) -> {
            work.on(message);
            return Handled.done();
        });
    }

    /** Calls this, which says what became of it. */
    public Handlers.Builder handle(Handler<T> handler) {
        Objects.requireNonNull(handler, "handler");
        return settle(new OneByOne<>(decoding::decode, handler));
    }

    /** Leaves it to this, which also settles. */
    public Handlers.Builder settle(SettlingHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return registry.apply(new Bound(terms, handler));
    }

    /** The message of an event, by the rules of {@link #as}. */
    public static <M> M decoded(Delivery delivery, Decoder<M> decoder) {
        byte[] payload = delivery.event().payload();
        if (payload == null) {
            throw new PermanentFailureException(
                    "UNREADABLE", "The event has no payload. Handle tombstones without a decoder.");
        }
        try {
            return Objects.requireNonNull(decoder.decode(payload), "The decoder returned null");
        } catch (Exception e) {
            // Only the kind of failure: what a decoder says often quotes what it read.
            throw new PermanentFailureException(
                    "UNREADABLE",
                    "The payload could not be read: " + e.getClass().getName(),
                    e);
        }
    }

    private record OneByOne<T>(Function<Delivery, T> decoding, Handler<T> handler) implements SettlingHandler {
        @Override
        public int most() {
            return 1;
        }

        @Override
        public Handled handle(List<Delivery> deliveries, Context context) throws Exception {
            return handler.handle(decoding.apply(deliveries.get(0)), context);
        }
    }
}
