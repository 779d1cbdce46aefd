// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Bell;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.RetryPolicy;
import io.postrider.spring.autoconfigure.PostriderProperties.RelayProperties;
import io.postrider.spring.autoconfigure.PostriderProperties.Retry;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the relay while the application runs. It starts before the web server, and stops after it and after everything
 * else that may still append, but before DataSources are closed.
 */
public final class RelayLifecycle implements SmartLifecycle {
    private static final Logger log = LoggerFactory.getLogger(RelayLifecycle.class);

    /** Far below the web server, and above what a publisher or handlers may need, such as connection factories in phase 0. */
    static final int PHASE = 512;

    private final Storage storage;
    private final PostriderProperties properties;
    private final String name;
    private final Publisher publisher;
    private final Wiring wiring;
    private @Nullable RelayConnections connections;
    private @Nullable Relay relay;

    /** What wakes the relay, who is told what it does, and what it does besides. */
    record Wiring(Bell bell, Supplier<RelayListener> listener, Chores chores, PublisherWrapper wrapper) {}

    RelayLifecycle(Storage storage, PostriderProperties properties, String name, Publisher publisher, Wiring wiring) {
        this.storage = storage;
        this.properties = properties;
        this.name = name;
        this.publisher = publisher;
        this.wiring = wiring;
    }

    @Override
    public synchronized void start() {
        if (relay != null) {
            return;
        }
        RelayConnections opened = RelayConnections.of(storage, properties.relay());
        Address address;
        try {
            // A relay runs once, a context may be stopped and started.
            Relay built = build(opened);
            address = Address.of(opened.dataSource());
            built.start();
            relay = built;
            connections = opened;
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
        log.info(
                "Outbox relay {} carries events from {} to {}. Undelivered events: view {}outbox_status, or actuator"
                        + " endpoint outbox",
                name,
                address,
                publisher,
                storage.tables().schema().isEmpty() ? "" : storage.tables().schema() + ".");
    }

    private Relay build(RelayConnections opened) {
        RelayProperties settings = properties.relay();
        try {
            OrderedFeed feed = OrderedFeed.builder(opened.dataSource())
                    .tables(storage.tables())
                    .lease(settings.lease())
                    .keepHistory(settings.keepHistory())
                    .housekeeper(wiring.chores().ofRelays(opened.dataSource()))
                    .streams(streams())
                    .build();
            RelaySettings.Builder built = Relay.from(feed)
                    .to(new SharedPublisher(wiring.wrapper().wrap(publisher)))
                    .name(name)
                    .loops(settings.loops())
                    .idlePoll(settings.idlePoll())
                    .stopTime(settings.stopTime())
                    .retry(retry(settings.retry()))
                    .listener(wiring.listener().get());
            return (settings.publishOnCommit() ? built.publishesOnCommit(wiring.bell()) : built.wokenBy(wiring.bell()))
                    .build();
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    "The relay cannot run with these settings: " + e.getMessage(),
                    "Change the settings under postrider.relay.",
                    e);
        }
    }

    /**
     * Only what is said here is stored: a mere topic leaves the stream's stored settings alone. Streams of workers are theirs to
     * declare.
     */
    private StreamSettings[] streams() {
        Set<String> ofWorkers = properties.workers().values().stream()
                .flatMap(worker -> worker.streams().stream())
                .collect(Collectors.toSet());
        return properties.streams().entrySet().stream()
                .filter(entry -> !ofWorkers.contains(entry.getKey()))
                .filter(entry ->
                        entry.getValue().onDead() != null || entry.getValue().history() != null)
                .map(entry -> settings(entry.getKey(), entry.getValue()))
                .toArray(StreamSettings[]::new);
    }

    static StreamSettings settings(String name, PostriderProperties.Stream given) {
        StreamSettings defaults = StreamSettings.of(name);
        return defaults.withOnDead(Objects.requireNonNullElse(given.onDead(), defaults.onDead()))
                .withHistory(Objects.requireNonNullElse(given.history(), defaults.history()));
    }

    static RetryPolicy retry(Retry given) {
        return RetryPolicy.exponential(given.first(), given.max()).jitter(0.2).attempts(given.attempts());
    }

    @Override
    public synchronized void stop() {
        Relay running = relay;
        relay = null;
        if (running != null) {
            running.close();
        }
        RelayConnections open = connections;
        connections = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return relay != null;
    }

    /** The relay that runs now. */
    public synchronized Optional<Relay> relay() {
        return Optional.ofNullable(relay);
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
