// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Has an application event stored in the outbox, as JSON, when it is published within a transaction.
 *
 * <pre>{@code
 * @OutboxMessage(stream = "order-events", key = "orderId")
 * record OrderPlaced(String orderId, BigDecimal total) {}
 *
 * applicationEventPublisher.publishEvent(new OrderPlaced(order.id(), order.total()));
 * }</pre>
 *
 * <p>Published outside a transaction it throws, as {@link SpringOutbox#append} does. Not inherited by subclasses.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface OutboxMessage {

    /** Where it belongs; for Kafka the topic unless mapped. */
    String stream();

    /** What happened; by default the simple name of the class. */
    String type() default "";

    /** The event's key: the name of a property, or any SpEL expression on the object. Empty: no key. */
    String key() default "";

    /** What the key identifies, such as {@code Order}; kept as the aggregate's type. */
    String aggregate() default "";
}
