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
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the relay while the application runs. It starts before the web server, and stops after it and after everything
 * else that may still append, but before DataSources are closed.
 *
 * <p>The application does not wait until the relay has its place among the others: what is appended before waits in the table
 * for so long. It does wait where it says something about its streams, so that what contradicts the stored settings fails the
 * start.
 */
public final class RelayLifecycle implements SmartLifecycle {
    private static final Logger log = LoggerFactory.getLogger(RelayLifecycle.class);

    /** Far below the web server, and above what a publisher or handlers may need, such as connection factories in phase 0. */
    static final int PHASE = 512;

    /** So that the rest of the application's start has the processors to itself. */
    private static final Duration BEGIN_AFTER = Duration.ofMillis(250);

    private static final Duration TRY_AGAIN_AFTER = Duration.ofSeconds(1);

    private final Storage storage;
    private final PostriderProperties properties;
    private final String name;
    private final Publisher publisher;
    private final Wiring wiring;
    private @Nullable Running running;

    /** A relay that was built, and has its place once {@code started} is done; {@code stopped}: it is not to try any more. */
    private record Running(
            Relay relay, RelayConnections connections, CountDownLatch started, CountDownLatch stopped, long since) {
        Running(Relay relay, RelayConnections connections) {
            this(relay, connections, new CountDownLatch(1), new CountDownLatch(1), System.nanoTime());
        }
    }

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
        if (running != null) {
            return;
        }
        RelayConnections opened = RelayConnections.of(storage, properties.relay());
        try {
            StreamSettings[] streams = streams();
            // A relay runs once, a context may be stopped and started.
            Running built = new Running(build(opened, streams), opened);
            if (streams.length > 0) {
                join(built);
            } else {
                Thread thread = new Thread(() -> joinPatiently(built), "postrider-" + name + "-start");
                // An application that only delivers lives as long as its relay, and as long as that tries to begin.
                thread.setDaemon(false);
                thread.start();
            }
            running = built;
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    private void join(Running built) {
        Address address = Address.of(built.connections().dataSource());
        built.relay().start();
        built.started().countDown();
        log.info(
                "Outbox relay {} carries events from {} to {}. Undelivered events: view {}outbox_status, or actuator"
                        + " endpoint outbox",
                name,
                address,
                publisher,
                storage.tables().schema().isEmpty() ? "" : storage.tables().schema() + ".");
    }

    /** Until it has succeeded, or the application stops. */
    private void joinPatiently(Running built) {
        Duration wait = BEGIN_AFTER;
        String told = "";
        try {
            while (!built.stopped().await(wait.toMillis(), TimeUnit.MILLISECONDS)) {
                wait = TRY_AGAIN_AFTER;
                try {
                    join(built);
                    return;
                } catch (RuntimeException e) {
                    String why = String.valueOf(e.getMessage());
                    if (!told.equals(why) && built.stopped().getCount() > 0) {
                        told = why;
                        log.error(
                                "Outbox relay {} could not start, so nothing is delivered by this application. It goes on"
                                        + " trying: {}",
                                name,
                                why);
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Relay build(RelayConnections opened, StreamSettings[] streams) {
        RelayProperties settings = properties.relay();
        try {
            OrderedFeed feed = OrderedFeed.builder(opened.dataSource())
                    .tables(storage.tables())
                    .lease(settings.lease())
                    .keepHistory(settings.keepHistory())
                    .housekeeper(wiring.chores().ofRelays(opened.dataSource()))
                    .streams(streams)
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
        Running before = running;
        running = null;
        if (before != null) {
            before.stopped().countDown();
            before.relay().close();
            before.connections().close();
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return running != null;
    }

    /** How long it has been trying to start, if it has not succeeded yet. */
    synchronized Optional<Duration> starting() {
        return Optional.ofNullable(running)
                .filter(each -> each.started().getCount() > 0)
                .map(each -> Duration.ofNanos(System.nanoTime() - each.since()));
    }

    /** The relay that runs now, once it has its place among the others. */
    public synchronized Optional<Relay> relay() {
        return Optional.ofNullable(running)
                .filter(each -> each.started().getCount() == 0)
                .map(Running::relay);
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
