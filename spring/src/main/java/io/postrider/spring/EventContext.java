// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.util.Map;

/** What events carry along from where they are appended, such as a trace. Thread-safe; must be quick. */
@FunctionalInterface
public interface EventContext {

    /** Headers for the events that this thread appends; an event's own headers go before these. */
    Map<String, String> headers();

    /** Nothing. */
    static EventContext none() {
        return Map::of;
    }
}
