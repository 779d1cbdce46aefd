// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.internal.EventMdc;
import io.postrider.relay.Delivery;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import io.postrider.relay.UnknownOutcomeException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of a handler. It is answered once: by what the handler says, or when it has been interrupted and still does not
 * come back. {@link #run} is for the thread of the handler, the rest for any.
 */
final class Attempt {
    private static final Logger log = LoggerFactory.getLogger(Handlers.class);

    private final Route.Bound route;
    private final List<Delivery> deliveries;
    private final Context context;
    private final HandlerListener listener;
    private final CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();

    private @Nullable Thread thread;
    private long startedAt;
    private @Nullable PublishException interruptedBy;
    private boolean stopped;

    Attempt(Route.Bound route, List<Delivery> deliveries, HandlerListener listener) {
        this.route = route;
        this.deliveries = deliveries;
        this.listener = listener;
        Delivery first = deliveries.get(0);
        this.context = new Context(first.event(), first.attempts() + 1);
    }

    CompletableFuture<@Nullable Object> answer() {
        return answer;
    }

    Duration timeout() {
        return route.terms().timeout();
    }

    void run() {
        begin();
        EventMdc mdc = mdc();
        try {
            Handled handled = route.handler().handle(deliveries, context);
            end();
            answer(handled);
        } catch (Throwable e) {
            PublishException why = end();
            // What an interrupted handler throws is how it says that it was.
            fail(why == null || e instanceof UnknownOutcomeException ? e : why);
        } finally {
            mdc.close();
        }
    }

    /** What is said about a batch is said about none of its events alone. */
    private EventMdc mdc() {
        return deliveries.size() == 1
                ? EventMdc.of(context.event(), context.attempt())
                : EventMdc.ofMany(context.event());
    }

    private synchronized void begin() {
        thread = Thread.currentThread();
        startedAt = System.nanoTime();
        if (stopped) {
            stop();
        }
    }

    /** From here on nobody interrupts the thread, which goes on with something else, or calls what was registered. */
    private synchronized @Nullable PublishException end() {
        thread = null;
        Thread.interrupted();
        return interruptedBy;
    }

    private void answer(@Nullable Handled handled) {
        if (handled instanceof Handled.Done) {
            succeed(null);
        } else if (handled instanceof Handled.Settled) {
            succeed(Publisher.Settled.SETTLED);
        } else if (handled instanceof Handled.Retry retry) {
            fail(new RetryableFailureException(
                    retry.code(), retry.message(), null, retry.after().orElse(null)));
        } else if (handled instanceof Handled.Failed failed) {
            fail(new PermanentFailureException(failed.code(), failed.message()));
        } else if (handled instanceof Handled.Unknown unknown) {
            fail(new UnknownOutcomeException(unknown.code(), unknown.message(), null));
        } else {
            fail(new IllegalStateException("The handler returned null. Return Handled.done() when it is done."));
        }
    }

    private void succeed(@Nullable Object result) {
        tell(true);
        answer.complete(result);
    }

    private void fail(Throwable failure) {
        tell(false);
        answer.completeExceptionally(failure);
    }

    private void tell(boolean done) {
        if (answer.isDone()) {
            return;
        }
        try {
            Duration took = Duration.ofNanos(System.nanoTime() - startedAt);
            listener.handled(context.event(), deliveries.size(), took, done);
        } catch (RuntimeException e) {
            log.warn("A listener of handlers failed; handling goes on", e);
        }
    }

    /** Its time is over; returns whether it was running. */
    boolean expire() {
        return interrupt(
                "TIMEOUT", "The handler took longer than " + timeout().toMillis() + " ms and was interrupted", true);
    }

    /** The process has no more time for it. */
    synchronized void stop() {
        // If it has not begun yet, it does with this.
        stopped = true;
        interrupt("STOPPED", "The handler was interrupted because its relay stops", false);
    }

    private boolean interrupt(String code, String message, boolean counts) {
        synchronized (this) {
            if (thread == null) {
                return false;
            }
            if (interruptedBy == null) {
                interruptedBy = why(code, message, counts);
            }
            thread.interrupt();
            // Here, so that the handler does not end before: what they act on may be somebody else's then.
            context.interrupt();
            return true;
        }
    }

    boolean isUnknownIfInterrupted() {
        return route.terms().timeoutIsUnknown();
    }

    private PublishException why(String code, String message, boolean counts) {
        if (isUnknownIfInterrupted()) {
            return new UnknownOutcomeException(code, message, null);
        }
        return counts ? new RetryableFailureException(code, message, null) : new NotSentException(code, message);
    }

    /** It did not come back although it was interrupted: the event must not wait for it any longer. */
    void giveUp() {
        PublishException why;
        synchronized (this) {
            if (thread == null || interruptedBy == null) {
                return;
            }
            why = interruptedBy;
        }
        EventMdc mdc = mdc();
        log.warn("A handler goes on although it was interrupted; its thread is missing until it returns");
        mdc.close();
        fail(why);
    }
}
