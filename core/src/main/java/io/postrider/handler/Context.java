// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a handler may know beside the message: the event and the number of the attempt. Thread-safe. */
public final class Context {
    private static final Logger log = LoggerFactory.getLogger(Handlers.class);

    private final OutboxEvent event;
    private final int attempt;
    private final List<Runnable> interrupting = new ArrayList<>();
    private boolean interrupted;

    Context(OutboxEvent event, int attempt) {
        this.event = Objects.requireNonNull(event, "event");
        this.attempt = attempt;
    }

    /** For handlers that are called by somebody else than a relay, such as a consumer or a test. */
    public static Context of(OutboxEvent event) {
        return new Context(event, 1);
    }

    /** With its id, key, headers, aggregate and payload; for a batch its first event. */
    public OutboxEvent event() {
        return event;
    }

    /** 1 for the first. Attempts of which nobody could say that they failed, since a relay died, are not counted. */
    public int attempt() {
        return attempt;
    }

    /**
     * Has this called, by another thread, when the handler's time is over: for work that an interrupt does not reach. At once
     * if it is over already; never after the handler has ended. It must not wait for anything.
     */
    public void onInterrupt(Runnable action) {
        synchronized (this) {
            if (!interrupted) {
                interrupting.add(action);
                return;
            }
        }
        action.run();
    }

    void interrupt() {
        List<Runnable> actions;
        synchronized (this) {
            interrupted = true;
            actions = List.copyOf(interrupting);
            // A second interrupt is for what has been registered since, which is nothing.
            interrupting.clear();
        }
        for (Runnable action : actions) {
            try {
                action.run();
            } catch (RuntimeException e) {
                log.warn("What a handler registered for its interrupt failed; it is interrupted all the same", e);
            }
        }
    }
}
