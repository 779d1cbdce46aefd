// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.postgres.CommitSignal;
import io.postrider.relay.Feed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.Window;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A relay from PostgreSQL to Kafka, or to handlers, in a process of its own, to be killed, paused and ended; run by {@link RelayChild}.
 *
 * <p>Prints {@code started} when it is one of the live relays, {@code refusing <event>} when it will refuse an event,
 * {@code closing} when SIGTERM has come, and {@code closed} with its counts when it is about to end.
 */
public final class RelayProcess {
    private static final long WINDOW_BYTES = Window.ofDefaults().bytes();

    private RelayProcess() {}

    /** Takes the arguments of a {@link RelaySetup}. */
    @SuppressWarnings("CatchAndPrintStackTrace") // whoever started the process reads it there
    public static void main(String[] args) {
        try {
            start(args);
        } catch (RuntimeException | Error e) {
            e.printStackTrace();
            // What has been started would keep it alive, and somebody waiting.
            Runtime.getRuntime().halt(1);
        }
    }

    private static void start(String[] args) {
        RelaySetup setup = RelaySetup.parse(args);
        Trap trap = setup.halt().map(Trap::halting).orElseGet(Trap::counting);
        Counts counts = new Counts();
        Optional<Application> application = setup.writing().map(writing -> new Application(writing, trap));
        EffectHandlers effects = effects(setup, trap);
        Relay relay = relay(setup, trap, counts, destination(setup, effects), application);
        Thread close = new Thread(
                () -> {
                    System.out.println("closing " + setup.name());
                    application.ifPresent(Application::stop);
                    close(relay, counts, trap, effects);
                },
                "close");
        Runtime.getRuntime().addShutdownHook(close);
        relay.start();
        application.ifPresent(Application::start);
        application.ifPresent(
                writers -> CommitSignal.of(source(setup), writers.bell()).start());
        for (int i = 0; i < setup.burns(); i++) {
            burn(i);
        }
        System.out.println("started " + setup.name());
    }

    /** A relay as the setup describes it, with its places watched. */
    public static Relay relay(RelaySetup setup, Trap trap, RelayListener listener) {
        return relay(setup, trap, listener, destination(setup, effects(setup, trap)));
    }

    private static EffectHandlers effects(RelaySetup setup, Trap trap) {
        return new EffectHandlers(TrappedDataSource.of(source(setup), trap), setup.name(), setup.takes());
    }

    private static Publisher destination(RelaySetup setup, EffectHandlers effects) {
        return setup.handles().<Publisher>map(effects::of).orElseGet(() -> kafka(setup));
    }

    private static void burn(int number) {
        Thread burning = new Thread(
                () -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                },
                "burning-" + number);
        burning.setDaemon(true);
        burning.start();
    }

    private static KafkaPublisher kafka(RelaySetup setup) {
        KafkaPublisher.Builder kafka = KafkaPublisher.builder(Map.of("bootstrap.servers", setup.bootstrapServers()));
        setup.sendTimeout().ifPresent(kafka::sendTimeout);
        setup.maxPayload().ifPresent(kafka::maxPayload);
        return kafka.build();
    }

    /** Tells a test that waits for it which event is being refused. */
    private static void refusing(RelaySetup setup, OutboxEvent event) {
        if (!setup.refusedAfter().isZero()) {
            System.out.println("refusing " + event.id());
        }
    }

    /** A relay as the setup describes it, with connections from elsewhere. */
    static Relay relay(RelaySetup setup, DataSource connections) {
        KafkaPublisher kafka = KafkaPublisher.create(Map.of("bootstrap.servers", setup.bootstrapServers()));
        return Relay.from(feed(setup, connections)).to(kafka).name(setup.name()).build();
    }

    static Relay relay(RelaySetup setup, Trap trap, RelayListener listener, Publisher destination) {
        return relay(setup, trap, listener, destination, Optional.empty());
    }

    private static Relay relay(
            RelaySetup setup,
            Trap trap,
            RelayListener listener,
            Publisher destination,
            Optional<Application> application) {
        Publisher survivable = setup.deadly()
                .<Publisher>map(type -> new DeadlyPublisher(destination, type))
                .orElse(destination);
        Publisher publisher = setup.refusedKey()
                .<Publisher>map(key ->
                        new RefusingPublisher(survivable, key, setup.refusedAfter(), event -> refusing(setup, event)))
                .orElse(survivable);
        RelaySettings.Builder relay = Relay.from(feed(setup, TrappedDataSource.of(source(setup), trap)))
                .to(new TrappedPublisher(publisher, trap))
                .name(setup.name())
                .retry(RetryPolicy.delays(Duration.ofMillis(100)).attempts(1_000))
                .listener(listener);
        setup.window().ifPresent(rows -> relay.window(new Window(rows, WINDOW_BYTES)));
        application.ifPresent(writers -> {
            if (setup.hasShards()) {
                relay.publishesOnCommit(writers.bell());
            } else {
                relay.publishesOnlyOnCommit(writers.bell());
            }
        });
        return relay.build();
    }

    private static Feed feed(RelaySetup setup, DataSource source) {
        if (setup.competing().isPresent()) {
            CompetingFeed.Builder feed = CompetingFeed.builder(source)
                    .streams(StreamSettings.of(setup.competing().get()));
            setup.lease().ifPresent(feed::lease);
            return feed.build();
        }
        OrderedFeed.Builder feed = OrderedFeed.builder(source);
        setup.lease().ifPresent(feed::lease);
        return feed.build();
    }

    /** Sessions carry the relay's name, so that a test can tell them from others. */
    static DataSource source(RelaySetup setup) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(setup.url());
        source.setApplicationName(setup.name());
        return source;
    }

    private static void close(Relay relay, Counts counts, Trap trap, EffectHandlers effects) {
        long start = System.nanoTime();
        relay.close();
        System.out.println("closed " + relay.name() + " millis="
                + Duration.ofNanos(System.nanoTime() - start).toMillis() + " published=" + relay.publishedCount()
                + " retried=" + counts.retried + " dead=" + counts.dead + " verdicts=" + trap.visits(Place.VERDICT)
                + " onCommit=" + relay.publishedOnCommitCount() + " undone=" + effects.undone());
    }

    private static final class Counts implements RelayListener {
        private final LongAdder retried = new LongAdder();
        private final LongAdder dead = new LongAdder();

        @Override
        public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
            retried.increment();
        }

        @Override
        public void dead(OutboxEvent event, int failed, String code, String message) {
            dead.increment();
        }
    }
}
