// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a domain depends on: it publishes events and subscribes handlers, and does not know how they travel.
 *
 * <pre>{@code
 * EventBus bus = EventBus.of(outbox).maps(OrderPlaced.class, placed -> placed.toEvent());
 * bus.subscribe("orders", "OrderPlaced").as(OrderPlaced::parse).run(mails::confirm);
 *
 * bus.publish(new OrderPlaced(order));                                                     // in the open transaction
 * Relay.from(OrderedFeed.of(dataSource)).to(bus.handlers()).build().start();               // in this process, or
 * Relay.from(kafkaFeed).to(bus.handlers()).build().start();                                // out of a broker
 * }</pre>
 *
 * <p>Publishing appends to the outbox in either case: a broker is fed by a relay, never by the domain. Publishing is as
 * thread-safe as the outbox; mapping and subscribing are for one thread, before {@link #handlers}.
 */
public final class EventBus {
    private final @Nullable Outbox outbox;
    private final Registry registry;

    private EventBus(@Nullable Outbox outbox, Registry registry) {
        this.outbox = outbox;
        this.registry = registry;
    }

    private static final class Registry {
        final Handlers.Builder handlers = Handlers.builder();
        final Map<Class<?>, Function<Object, OutboxEvent>> mappings = new LinkedHashMap<>();
    }

    /** Publishes by an outbox that knows the current transaction by itself. */
    public static EventBus of(Outbox outbox) {
        return new EventBus(Objects.requireNonNull(outbox, "outbox"), new Registry());
    }

    /** For transactions that are handed around: publish by {@link #in}. */
    public static EventBus ofTransactions() {
        return new EventBus(null, new Registry());
    }

    /** The same bus for one transaction: {@code bus.in(tx).publish(..)}, {@code bus.in(outbox.on(connection)).publish(..)}. */
    public EventBus in(Outbox transaction) {
        return new EventBus(Objects.requireNonNull(transaction, "transaction"), registry);
    }

    /**
     * Says which event an object of the domain is. Objects of exactly this class, not of those that extend it.
     *
     * @throws OutboxException if it has one already
     */
    public <T> EventBus maps(Class<T> type, Function<? super T, OutboxEvent> mapping) {
        Objects.requireNonNull(mapping, "mapping");
        if (registry.mappings.putIfAbsent(type, object -> mapping.apply(type.cast(object))) != null) {
            throw new OutboxException("Class " + type.getName() + " is mapped to an event twice. Keep one mapping.");
        }
        return this;
    }

    /**
     * Leaves the event in the open transaction.
     *
     * @throws OutboxException as {@link Outbox#append}
     */
    public void publish(OutboxEvent event) {
        if (outbox == null) {
            throw new OutboxException(
                    "No transaction was given for " + event + ". Call bus.in(transaction).publish(..).");
        }
        outbox.append(event);
    }

    /**
     * Leaves in the open transaction what this object is mapped to.
     *
     * @throws OutboxException if it is mapped to nothing, and as {@link Outbox#append}
     */
    public void publish(Object object) {
        if (object instanceof OutboxEvent event) {
            publish(event);
            return;
        }
        Function<Object, OutboxEvent> mapping = registry.mappings.get(object.getClass());
        if (mapping == null) {
            throw new OutboxException("Class " + object.getClass().getName()
                    + " is mapped to no event. Say which it is with maps(..), or publish an OutboxEvent.");
        }
        publish(mapping.apply(object));
    }

    /** Begins to say who handles this type of this stream; ended by {@link Route#run} or {@link Route#handle}. */
    public Route<OutboxEvent> subscribe(String stream, String type) {
        return registry.handlers.on(stream, type);
    }

    /** For what concerns all handlers: concurrency, timeouts, threads. */
    public Handlers.Builder settings() {
        return registry.handlers;
    }

    /**
     * All that have subscribed, for one relay; call it again for another.
     *
     * @throws OutboxException if nobody has, or two for the same
     */
    public Handlers handlers() {
        return registry.handlers.build();
    }
}
