// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.jspecify.annotations.Nullable;

/**
 * A real Kafka broker on loopback ports, without a container: in this JVM, or in one of its own that can be killed and
 * paused.
 *
 * <pre>{@code
 * try (KafkaServer kafka = KafkaServer.start()) {
 *     kafka.createTopic("orders", 4);
 *     ... kafka.bootstrapServers() ...
 * }
 * }</pre>
 *
 * <p>Ports and data are kept while it is {@link #stop stopped} or {@link #kill killed}. On {@link #close}, and when this
 * JVM ends in whatever way, it ends and its data is removed. Needs {@code org.apache.kafka:kafka_2.13} on the classpath.
 * Thread-safe.
 */
public final class KafkaServer implements AutoCloseable {
    private static final Duration ADMIN_LIMIT = Duration.ofSeconds(30);

    private final Map<String, String> properties;
    private final Optional<List<String>> processOptions;
    private final KafkaListeners listeners;
    private final ScratchDirectory scratch = ScratchDirectory.create("kafka");
    private final Watchdog watchdog = Watchdog.start();
    private final Thread hook = new Thread(this::close, "postrider-kafka-close");
    private @Nullable KafkaBroker broker;
    private boolean closed;

    private KafkaServer(Builder builder, Optional<List<String>> processOptions) {
        this.listeners = KafkaListeners.reserve(builder.advertised);
        this.processOptions = processOptions;
        this.properties = new LinkedHashMap<>(KafkaListeners.defaults());
        this.properties.putAll(builder.settings);
        this.properties.putAll(listeners.properties());
        this.properties.put("log.dirs", scratch.path().resolve("data").toString());
    }

    /** Starts a broker in this JVM with the default settings. */
    public static KafkaServer start() {
        return builder().start();
    }

    /** Starts a broker in a JVM of its own with the default settings. */
    public static KafkaServer startProcess() {
        return builder().startProcess();
    }

    /** Starts the description of a broker. */
    public static Builder builder() {
        return new Builder();
    }

    /** What clients connect to: the advertised address if one was given, otherwise the broker itself. */
    public String bootstrapServers() {
        return listeners.advertisedAddress();
    }

    /** The broker itself, past whatever stands at its advertised address. */
    public String directBootstrapServers() {
        return listeners.directAddress();
    }

    /** The port on which the broker listens for clients; with an advertised address, where its proxy must forward to. */
    public int port() {
        return listeners.clientPort();
    }

    /** The process id of the broker's own JVM. */
    public synchronized long pid() {
        return process("have a process id of its own").pid();
    }

    /** Creates a topic and waits until all its partitions have a leader. */
    public void createTopic(String name, int partitions) {
        createTopic(name, partitions, Map.of());
    }

    /** Creates a topic with settings such as {@code max.message.bytes} and waits until its partitions have a leader. */
    public void createTopic(String name, int partitions, Map<String, String> configs) {
        NewTopic topic = new NewTopic(name, partitions, (short) 1).configs(configs);
        Map<String, Object> settings = Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                directBootstrapServers(),
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                (int) ADMIN_LIMIT.toMillis());
        try (Admin admin = Admin.create(settings)) {
            long deadline = System.nanoTime() + ADMIN_LIMIT.toNanos();
            while (!isCreated(admin, topic, deadline)) {
                Pause.millis(100);
            }
            while (!isLed(admin, name, partitions)) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IllegalStateException("Topic " + name + " has no leaders after " + ADMIN_LIMIT);
                }
                Pause.millis(20);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("Topic " + name + " could not be created: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while creating topic " + name, e);
        }
    }

    /** A broker that was silent for a while is not given partitions until its controller has heard of it again. */
    private static boolean isCreated(Admin admin, NewTopic topic, long deadline)
            throws ExecutionException, TimeoutException, InterruptedException {
        try {
            admin.createTopics(List.of(topic)).all().get(ADMIN_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof InvalidReplicationFactorException && System.nanoTime() - deadline < 0) {
                return false;
            }
            throw e;
        }
    }

    private static boolean isLed(Admin admin, String name, int partitions) throws InterruptedException {
        try {
            TopicDescription topic =
                    admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
            return topic != null
                    && topic.partitions().size() == partitions
                    && topic.partitions().stream().allMatch(partition -> partition.leader() != null);
        } catch (ExecutionException notYet) {
            return false;
        }
    }

    /** Shuts the broker down in order and keeps the data. Does nothing if it is down. */
    public synchronized void stop() {
        if (broker != null) {
            broker.stop();
            broker = null;
        }
    }

    /** Starts it after {@link #stop} or {@link #kill}, on the same ports with the same data. */
    public synchronized void startAgain() {
        if (broker != null) {
            throw new IllegalStateException("Kafka on port " + port() + " is running already");
        }
        broker = processOptions.isPresent()
                ? KafkaBroker.Outside.start(
                        properties, scratch.path().resolve("broker.properties"), processOptions.get())
                : KafkaBroker.Inside.start(properties);
    }

    /** Kills the broker's own JVM with SIGKILL and keeps the data. */
    public synchronized void kill() {
        process("be killed").close();
        broker = null;
    }

    /** Stops all threads of the broker's own JVM with SIGSTOP. */
    public synchronized void pause() {
        process("be paused").pause();
    }

    /** Lets the broker's own JVM go on with SIGCONT. */
    public synchronized void resume() {
        process("be resumed").resume();
    }

    /** Ends the broker and removes its data; does nothing the second time. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (broker instanceof KafkaBroker.Outside process) {
            // Its data goes anyway, so there is nothing to wait for.
            process.jvm().close();
            broker = null;
        }
        stop();
        scratch.close();
        watchdog.close();
        listeners.close();
        if (Thread.currentThread() != hook) {
            ShutdownHook.remove(hook);
        }
    }

    private synchronized void create() {
        ShutdownHook.add(hook);
        watchdog.remove(scratch.path());
        try {
            startAgain();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private ChildJvm process(String what) {
        if (broker instanceof KafkaBroker.Outside process) {
            return process.jvm();
        }
        throw new IllegalStateException(
                broker == null
                        ? "Kafka on port " + port() + " is down. Call startAgain()."
                        : "A broker inside this JVM cannot " + what + ". Start it with startProcess().");
    }

    /** Collects what a broker needs to know before it starts; not thread-safe. */
    public static final class Builder {
        private final Map<String, String> settings = new LinkedHashMap<>();
        private final List<String> jvmOptions =
                new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        private @Nullable String advertised;

        private Builder() {}

        /** A property of the broker, such as {@code message.max.bytes}; overrides the defaults of this class. */
        public Builder setting(String name, String value) {
            settings.put(name, value);
            return this;
        }

        /** Whether a topic comes into being when it is first used; on unless switched off. */
        public Builder autoCreateTopics(boolean on) {
            return setting("auto.create.topics.enable", Boolean.toString(on));
        }

        /** How many partitions such a topic gets; 4 unless given. */
        public Builder partitions(int partitions) {
            return setting("num.partitions", Integer.toString(partitions));
        }

        /** The address that the broker tells its clients, such as that of a proxy in front of it. */
        public Builder advertised(String host, int port) {
            advertised = host + ":" + port;
            return this;
        }

        /**
         * Adds options for the JVM of {@link #startProcess}, which override those it has: a heap of 256 MB, the serial
         * collector and the first compiler only, which halves the time to start. To measure throughput, give {@code
         * -XX:TieredStopAtLevel=4}.
         */
        public Builder jvmOptions(String... options) {
            jvmOptions.addAll(Arrays.asList(options));
            return this;
        }

        /** Starts the broker in this JVM and returns once it serves clients. */
        public KafkaServer start() {
            return started(Optional.empty());
        }

        /** Starts the broker in a JVM of its own and returns once it serves clients. */
        public KafkaServer startProcess() {
            return started(Optional.of(List.copyOf(jvmOptions)));
        }

        private KafkaServer started(Optional<List<String>> processOptions) {
            KafkaServer server = new KafkaServer(this, processOptions);
            server.create();
            return server;
        }
    }
}
