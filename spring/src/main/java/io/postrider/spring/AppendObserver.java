// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.OutboxEvent;
import java.util.Collection;

/** Has something done around each append, such as opening a span. Thread-safe. */
@FunctionalInterface
public interface AppendObserver {

    /** Runs the append, once, on this thread; what it throws is passed on. */
    void around(Collection<OutboxEvent> events, Runnable append);
}
