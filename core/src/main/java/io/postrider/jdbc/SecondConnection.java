// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Settler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles on a connection and a thread of its own, which it has only while there is something to do. Nothing waits for the
 * connection: what is offered before it is there is refused, and if it cannot be had, everything is, so that the loop does it.
 */
final class SecondConnection implements Settler {
    private static final Logger log = LoggerFactory.getLogger(SecondConnection.class);
    private static final long TRY_AGAIN_AFTER = Duration.ofSeconds(30).toNanos();

    private enum State {
        NONE,
        OPENING,
        OPEN
    }

    private final Session session;
    private final Settling settling;
    private final SpareThread thread;
    private final AtomicReference<State> state = new AtomicReference<>(State.NONE);
    private volatile long openAt = System.nanoTime();

    SecondConnection(String name, Session session, Settling settling) {
        this.session = session;
        this.settling = settling;
        this.thread = SpareThread.of(name + "-settles", this::rest);
    }

    @Override
    public boolean offer(List<Delivery> published, Consumer<Boolean> told) {
        if (state.get() == State.OPEN) {
            thread.execute(() -> {
                boolean done = false;
                try {
                    done = settle(published);
                } finally {
                    told.accept(done);
                }
            });
            return true;
        }
        if (System.nanoTime() - openAt >= 0 && state.compareAndSet(State.NONE, State.OPENING)) {
            thread.execute(this::open);
        }
        return false;
    }

    private synchronized void open() {
        try {
            session.run("open a second connection", connection -> true);
            state.set(State.OPEN);
        } catch (RuntimeException e) {
            log.debug("There is no second connection, so reads and settles follow each other", e);
            fail();
        }
    }

    private synchronized boolean settle(List<Delivery> published) {
        boolean done = false;
        try {
            settling.settle(published);
            done = true;
            state.set(State.OPEN);
        } catch (FeedException e) {
            log.debug("The second connection is given up", e);
        } finally {
            if (!done) {
                fail();
            }
        }
        return done;
    }

    private void fail() {
        openAt = System.nanoTime() + TRY_AGAIN_AFTER;
        session.close();
        state.set(State.NONE);
    }

    /** The next offer opens another one. */
    private synchronized void rest() {
        session.close();
        state.compareAndSet(State.OPEN, State.NONE);
    }

    @Override
    public void close() {
        thread.execute(this::rest);
        thread.end();
    }
}
