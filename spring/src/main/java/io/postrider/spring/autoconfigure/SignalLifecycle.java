// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.postgres.CommitSignal;
import io.postrider.relay.Bell;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Tells relays in other processes of commits while the application runs, and its own relay and workers of theirs. */
public final class SignalLifecycle implements SmartLifecycle {
    private final Storage storage;
    private final PostriderProperties properties;
    private final Bell bell;
    private @Nullable RelayConnections connections;
    private @Nullable CommitSignal signal;

    SignalLifecycle(Storage storage, PostriderProperties properties, Bell bell) {
        this.storage = storage;
        this.properties = properties;
        this.bell = bell;
    }

    @Override
    public synchronized void start() {
        if (signal != null) {
            return;
        }
        RelayConnections opened = RelayConnections.forSignals(storage, properties.relay());
        CommitSignal.Builder builder =
                CommitSignal.of(opened.dataSource(), bell).tables(storage.tables());
        boolean delivers = properties.relay().enabled() || !properties.workers().isEmpty();
        signal = (delivers ? builder : builder.onlySends()).start();
        connections = opened;
    }

    @Override
    public synchronized void stop() {
        if (signal != null) {
            signal.close();
            signal = null;
        }
        if (connections != null) {
            connections.close();
            connections = null;
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return signal != null;
    }

    /** Like the relay: while anything may still append. */
    @Override
    public int getPhase() {
        return 0;
    }
}
