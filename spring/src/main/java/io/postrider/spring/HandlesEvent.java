// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean the handler of one type of a stream, for the worker that has the stream.
 *
 * <pre>{@code
 * @HandlesEvent(stream = "orders", type = "OrderPlaced")
 * @Transactional
 * void confirm(OrderPlaced placed, Context context) { … }
 * }</pre>
 *
 * <p>The first parameter is what the payload is read as, by the application's own JSON mapper; or {@code OutboxEvent} for the
 * event itself, or {@code Envelope}. A second one may be the {@code Context}. It returns nothing, or {@code Handled}.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface HandlesEvent {

    String stream();

    /** The logical type of the event; never the name of a class. */
    String type();
}
