// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.Delivery;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Publisher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Handlers in this process as the destination of a relay: by stream and type, from an explicit registry.
 *
 * <pre>{@code
 * Handlers handlers = Handlers.builder()
 *         .on("orders", "OrderPlaced").as(json.readerFor(Order.class)::readValue).run(mails::confirm)
 *         .on("payments", "Charge").within(ofSeconds(10)).timeoutIsUnknown().handle((event, context) -> bank.charge(event))
 *         .build();
 * Relay relay = Relay.from(OrderedFeed.of(dataSource)).to(handlers).retry(RetryPolicy.brisk()).build();
 * }</pre>
 *
 * <p>They run on threads of their own, at most so many at once as {@link Builder#concurrency} says; events of one key never
 * at once. Thread-safe. Closed by the relay that it is given to.
 */
public final class Handlers implements Publisher {
    private final Map<Place, Route.Bound> routes;
    private final Route.@Nullable Bound otherwise;
    private final Map<Route.Bound, Gathering> gatherings = new HashMap<>();
    private final Traits traits;
    private final Desk desk;

    private Handlers(Builder builder) {
        routes = Map.copyOf(builder.byPlace());
        otherwise = builder.otherwise;
        List<Route.Bound> all = new ArrayList<>(routes.values());
        if (otherwise != null) {
            all.add(otherwise);
        }
        desk = new Desk(builder.executor, builder.concurrency, builder.grace, builder.listener);
        int most = 1;
        Duration longest = Duration.ZERO;
        for (Route.Bound each : all) {
            most = Math.max(most, each.handler().most());
            longest =
                    each.terms().timeout().compareTo(longest) > 0 ? each.terms().timeout() : longest;
            if (each.handler().most() > 1) {
                gatherings.put(each, new Gathering(each, desk));
            }
        }
        // A batch that fails goes again one by one, so what is last in it waits for all the others.
        Duration slowest = longest.plus(builder.grace).multipliedBy(most + 1L);
        traits = new Traits(builder.concurrency * most, slowest, false);
    }

    private record Place(String stream, String type) {}

    public static Builder builder() {
        return new Builder();
    }

    @Override
    public CompletionStage<?> publish(OutboxEvent event) {
        return deliver(new Delivery(0, 0, 0, event, nanos -> true));
    }

    @Override
    public CompletionStage<?> deliver(Delivery delivery) {
        OutboxEvent event = delivery.event();
        Route.Bound route = routes.getOrDefault(new Place(event.stream(), event.type()), otherwise);
        if (route == null) {
            return CompletableFuture.failedFuture(new PermanentFailureException(
                    "NO_HANDLER",
                    "Type " + event.type() + " of stream " + event.stream()
                            + " has no handler. Register one, or one for all others with otherwise(), then requeue."));
        }
        Gathering gathering = gatherings.get(route);
        return gathering == null ? desk.handle(route, List.of(delivery)) : gathering.add(delivery);
    }

    /** The gate of a stream closes only where a handler throws a DestinationDownException: there is no one destination. */
    @Override
    public Traits traits() {
        return traits;
    }

    /** Takes nothing more and interrupts what runs, so that what becomes of it can still be written. */
    @Override
    public void wrapUp(Duration left) {
        desk.wrapUp(left);
    }

    /** Takes nothing more, waits two seconds for what runs, interrupts it, and waits two seconds more. */
    @Override
    public void close() {
        desk.close();
    }

    static Duration positive(String what, Duration duration) {
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException("The " + what + " is " + duration + ". Give more than zero.");
        }
        return duration;
    }

    /** Collects the handlers; not thread-safe. */
    public static final class Builder {
        private final List<Map.Entry<Place, Route.Bound>> registered = new ArrayList<>();
        private Route.@Nullable Bound otherwise;
        private @Nullable Executor executor;
        private int concurrency = 16;
        private Duration timeout = Duration.ofSeconds(30);
        private Duration grace = Desk.GRACE;
        private HandlerListener listener = (event, events, took, done) -> {};

        private Builder() {}

        /** Begins to say who handles this type of this stream. */
        public Route<OutboxEvent> on(String stream, String type) {
            Place place = new Place(Objects.requireNonNull(stream, "stream"), Objects.requireNonNull(type, "type"));
            return Route.to(
                    bound -> {
                        registered.add(Map.entry(place, bound));
                        return this;
                    },
                    timeout);
        }

        /** Begins to say who handles what nobody else does; without it, that is dead. */
        public Route<OutboxEvent> otherwise() {
            return Route.to(
                    bound -> {
                        if (otherwise != null) {
                            throw new OutboxException("Two handlers are given for all other events. Keep one.");
                        }
                        otherwise = bound;
                        return this;
                    },
                    timeout);
        }

        /** How many handlers run at once, 16 by default. */
        public Builder concurrency(int concurrency) {
            if (concurrency < 1 || concurrency > 10_000) {
                throw new IllegalArgumentException("1 to 10000 handlers run at once, not " + concurrency + ".");
            }
            this.concurrency = concurrency;
            return this;
        }

        /** Whose threads handlers run on, such as virtual ones; by default those of a pool of its own. Stays the caller's. */
        public Builder executor(Executor executor) {
            this.executor = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /** How long the handlers that are registered from here on may run; 30 s by default. */
        public Builder timeout(Duration timeout) {
            this.timeout = positive("timeout", timeout);
            return this;
        }

        public Builder listener(HandlerListener listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /** How long an interrupted handler may take to come back before its event is given up. */
        Builder grace(Duration grace) {
            this.grace = grace;
            return this;
        }

        /**
         * Makes them ready.
         *
         * @throws OutboxException if there is no handler, or two for the same
         */
        public Handlers build() {
            if (registered.isEmpty() && otherwise == null) {
                throw new OutboxException("No handler is registered, so every event would be dead. Register one.");
            }
            return new Handlers(this);
        }

        private Map<Place, Route.Bound> byPlace() {
            Map<Place, Route.Bound> places = new HashMap<>();
            registered.forEach(each -> {
                if (places.put(each.getKey(), each.getValue()) != null) {
                    throw new OutboxException("Type " + each.getKey().type() + " of stream "
                            + each.getKey().stream() + " has two handlers. Keep one; to have two things done, append"
                            + " an event for each.");
                }
            });
            return places;
        }
    }
}
