// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;

/**
 * Makes events of objects, in the format of the application's choice. {@link EventJson} is one; with {@code
 * postrider.append.value-serializer} there is one that uses a Serializer of Kafka. Thread-safe.
 */
public interface EventWriter {

    /**
     * Starts an event with the object as its payload, written now, once: what happens to the object later changes nothing, and
     * what is sent twice is the same bytes.
     */
    OutboxEvent.Builder event(String stream, String type, Object body);
}
