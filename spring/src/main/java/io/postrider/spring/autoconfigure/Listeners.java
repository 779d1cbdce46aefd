// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxEvent;
import io.postrider.relay.RelayListener;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells several listeners; one that fails keeps nothing from the others. */
record Listeners(List<RelayListener> all) implements RelayListener {
    private static final Logger log = LoggerFactory.getLogger(Listeners.class);

    @Override
    public void published(OutboxEvent event, Duration took) {
        tell(listener -> listener.published(event, took));
    }

    @Override
    public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
        tell(listener -> listener.retrying(event, failed, delay, code, message));
    }

    @Override
    public void dead(OutboxEvent event, int failed, String code, String message) {
        tell(listener -> listener.dead(event, failed, code, message));
    }

    @Override
    public void unknown(OutboxEvent event, int failed, String code, String message) {
        tell(listener -> listener.unknown(event, failed, code, message));
    }

    @Override
    public void outageStarted(String stream, String code, String message) {
        tell(listener -> listener.outageStarted(stream, code, message));
    }

    @Override
    public void outageEnded(String stream, Duration lasted) {
        tell(listener -> listener.outageEnded(stream, lasted));
    }

    private void tell(Consumer<RelayListener> what) {
        for (RelayListener listener : all) {
            try {
                what.accept(listener);
            } catch (RuntimeException e) {
                log.warn("Listener {} failed", listener.getClass().getName(), e);
            }
        }
    }
}
