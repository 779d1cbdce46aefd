// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * Appends the application events that are mapped, when they are published: within the publisher's transaction, or not
 * at all. Thread-safe.
 */
public final class MappedEvents implements ApplicationListener<ApplicationEvent> {
    private final Outbox outbox;
    private final List<EventMapping<?>> mappings;
    private final Supplier<@Nullable EventWriter> writer;
    private final Map<Class<?>, Optional<Function<Object, OutboxEvent>>> known = new ConcurrentHashMap<>();

    /** @param writer writes annotated events; asked for when the first of them is published */
    public MappedEvents(Outbox outbox, Collection<EventMapping<?>> mappings, Supplier<@Nullable EventWriter> writer) {
        this.outbox = outbox;
        this.mappings = List.copyOf(mappings);
        this.writer = writer;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        Object published = event instanceof PayloadApplicationEvent<?> carrier ? carrier.getPayload() : event;
        known.computeIfAbsent(published.getClass(), this::find)
                .ifPresent(mapping -> outbox.append(mapping.apply(published)));
    }

    /** On the thread of the transaction, even if the application's events go elsewhere. */
    @Override
    public boolean supportsAsyncExecution() {
        return false;
    }

    private Optional<Function<Object, OutboxEvent>> find(Class<?> type) {
        List<EventMapping<?>> fitting = mappings.stream()
                .filter(mapping -> mapping.type().isAssignableFrom(type))
                .toList();
        List<EventMapping<?>> nearest = fitting.stream()
                .filter(mapping ->
                        fitting.stream().allMatch(other -> other.type().isAssignableFrom(mapping.type())))
                .toList();
        if (!fitting.isEmpty() && nearest.size() != 1) {
            throw new OutboxException("Application event " + type.getName() + " has " + fitting.size()
                    + " mappings, for "
                    + fitting.stream().map(each -> each.type().getName()).toList()
                    + ", and none is nearer than the others. Leave one EventMapping for its class.");
        }
        if (!nearest.isEmpty()) {
            return Optional.of(nearest.get(0)::map);
        }
        OutboxMessage message = type.getAnnotation(OutboxMessage.class);
        return message == null ? Optional.empty() : Optional.of(annotated(type, message));
    }

    private Function<Object, OutboxEvent> annotated(Class<?> type, OutboxMessage message) {
        EventWriter found = writer.get();
        if (found == null) {
            throw new OutboxException("Application event " + type.getName()
                    + " cannot be written as JSON: there is no Jackson mapper. Add Jackson, or an EventJson bean.");
        }
        String name = message.type().isEmpty() ? type.getSimpleName() : message.type();
        Function<Object, String> key = message.key().isEmpty() ? null : key(type, message.key());
        return event -> {
            OutboxEvent.Builder builder = found.event(message.stream(), name, event);
            if (key == null) {
                return builder.build();
            }
            String value = key.apply(event);
            return message.aggregate().isEmpty()
                    ? builder.key(value).build()
                    : builder.aggregate(message.aggregate(), value).build();
        };
    }

    private static Function<Object, String> key(Class<?> type, String text) {
        Expression expression;
        try {
            expression = new SpelExpressionParser().parseExpression(text);
        } catch (ParseException e) {
            throw noKey(type, text, "is no expression: " + e.getMessage(), e);
        }
        SimpleEvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding()
                .withInstanceMethods()
                .build();
        return event -> {
            Object value;
            try {
                value = expression.getValue(context, event);
            } catch (EvaluationException e) {
                throw noKey(type, text, "cannot be read: " + e.getMessage(), e);
            }
            if (value == null) {
                throw noKey(type, text, "is null", null);
            }
            return value.toString();
        };
    }

    private static OutboxException noKey(Class<?> type, String text, String what, @Nullable Exception cause) {
        return new OutboxException(
                "The key '" + text + "' of application event " + type.getName() + " " + what
                        + ". Name a property that has a value in @OutboxMessage(key = ..), or leave the key out.",
                cause);
    }
}
