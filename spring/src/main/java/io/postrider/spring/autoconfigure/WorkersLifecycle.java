// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.handler.Handlers;
import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Feed;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import io.postrider.spring.HandlerMethods;
import io.postrider.spring.autoconfigure.PostriderProperties.Worker;
import io.postrider.spring.autoconfigure.PostriderProperties.WorkerMode;
import io.postrider.spring.autoconfigure.PostriderWorkersAutoConfiguration.Surroundings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * Runs the workers while the application runs: each a relay, from its streams to the methods that handle their events. Ordered
 * ones have a group of their own; competing ones share a feed, and so one place among the relays.
 */
public final class WorkersLifecycle implements SmartLifecycle {
    private static final String COMPETING = "workers";

    private final Storage storage;
    private final PostriderProperties properties;
    private final Surroundings surroundings;
    private final Chores chores;
    private final List<Relay> running = new ArrayList<>();
    private @Nullable RelayConnections connections;

    WorkersLifecycle(Storage storage, PostriderProperties properties, Surroundings surroundings, Chores chores) {
        this.storage = storage;
        this.properties = properties;
        this.surroundings = surroundings;
        this.chores = chores;
    }

    @Override
    public synchronized void start() {
        if (!running.isEmpty() || properties.workers().isEmpty()) {
            return;
        }
        HandlerMethods methods = surroundings.methods();
        checkStreams(methods);
        RelayConnections opened = RelayConnections.forWorkers(storage, properties);
        connections = opened;
        try {
            Map<String, Feed> feeds = feeds(opened.dataSource());
            properties.workers().forEach((name, worker) -> {
                Relay relay = build(name, worker, methods, Objects.requireNonNull(feeds.get(name)));
                running.add(relay);
                relay.start();
            });
        } catch (IllegalArgumentException | OutboxException e) {
            stop();
            throw e instanceof SetupException told
                    ? told
                    : new SetupException(
                            "The workers cannot run with these settings: " + e.getMessage(),
                            "Change the settings under postrider.workers, or the methods with @HandlesEvent.",
                            e);
        } catch (RuntimeException e) {
            // Such as a database that does not answer: all of them run, or none, so that a start can be repeated.
            stop();
            throw e;
        }
    }

    private void checkStreams(HandlerMethods methods) {
        Set<String> without = new HashSet<>(methods.streams());
        Map<String, String> workerOf = new HashMap<>();
        properties
                .workers()
                .forEach((name, worker) -> worker.streams().forEach(stream -> {
                    without.remove(stream);
                    String other = workerOf.put(stream, name);
                    if (other != null) {
                        throw new SetupException(
                                "The workers " + other + " and " + name + " both have the stream " + stream + ".",
                                "Leave it to one of them: postrider.workers.<name>.streams.");
                    }
                }));
        if (!without.isEmpty()) {
            throw new SetupException(
                    "There are methods with @HandlesEvent for "
                            + without.stream().sorted().toList()
                            + ", and no worker has these streams, so they would never be called.",
                    "Add the streams to postrider.workers.<name>.streams.");
        }
    }

    private Relay build(String name, Worker worker, HandlerMethods methods, Feed feed) {
        Handlers.Builder handlers = Handlers.builder()
                .concurrency(worker.concurrency())
                .timeout(worker.timeout())
                .listener(surroundings.handlerListener());
        surroundings.threads(name).ifPresent(handlers::executor);
        methods.register(handlers, Set.copyOf(worker.streams()));
        return Relay.from(feed)
                .to(handlers.build())
                .retry(RetryPolicy.brisk().attempts(worker.attempts()))
                .name(name + "-" + ProcessHandle.current().pid())
                .stopTime(properties.relay().stopTime())
                .listener(surroundings.relayListener())
                .wokenBy(surroundings.bell())
                .build();
    }

    private StreamSettings settings(String stream) {
        PostriderProperties.Stream given = properties.streams().get(stream);
        return given == null ? StreamSettings.of(stream) : RelayLifecycle.settings(stream, given);
    }

    private Map<String, Feed> feeds(DataSource dataSource) {
        Map<String, Feed> feeds = new HashMap<>();
        Map<String, Worker> competing = new LinkedHashMap<>();
        properties.workers().forEach((name, worker) -> {
            if (worker.mode() == WorkerMode.COMPETING) {
                competing.put(name, worker);
            } else {
                feeds.put(name, ordered(name, worker, dataSource));
            }
        });
        if (!competing.isEmpty()) {
            CompetingFeed all = competing(competing.values(), dataSource);
            competing.forEach((name, worker) -> feeds.put(
                    name, all.only(worker.streams().toArray(String[]::new)).lease(worker.lease())));
        }
        return feeds;
    }

    private Feed ordered(String name, Worker worker, DataSource dataSource) {
        return OrderedFeed.builder(dataSource)
                .tables(storage.tables())
                .group(name)
                .streams(settings(worker))
                .lease(worker.lease())
                .housekeeper(chores.ofRelays(dataSource))
                .build();
    }

    private CompetingFeed competing(Collection<Worker> workers, DataSource dataSource) {
        return CompetingFeed.builder(dataSource)
                .tables(storage.tables())
                .group(COMPETING)
                .streams(workers.stream()
                        .flatMap(worker -> Stream.of(settings(worker)))
                        .toArray(StreamSettings[]::new))
                .lease(workers.stream()
                        .map(Worker::lease)
                        .min(Comparator.naturalOrder())
                        .orElseThrow())
                .housekeeper(chores.ofRelays(dataSource))
                .build();
    }

    private StreamSettings[] settings(Worker worker) {
        return worker.streams().stream().map(this::settings).toArray(StreamSettings[]::new);
    }

    @Override
    public synchronized void stop() {
        closeTogether();
        running.clear();
        RelayConnections open = connections;
        connections = null;
        if (open != null) {
            open.close();
        }
    }

    /** Each may wait for its handlers, and the application for the slowest of them, not for one after the other. */
    private void closeTogether() {
        List<Thread> closing = running.stream()
                .map(relay -> new Thread(relay::close, relay.name() + "-close"))
                .toList();
        closing.forEach(Thread::start);
        for (Thread each : closing) {
            boolean interrupted = false;
            while (each.isAlive()) {
                try {
                    each.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return !running.isEmpty();
    }

    /**
     * After what handlers need has started, such as connection factories in phase 0, and before it stops. Before the relay
     * stops too, which sends what handlers append.
     */
    @Override
    public int getPhase() {
        return 1024;
    }
}
