// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.testkit.KafkaServer;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same class files with the older clients that applications bring along, against the current broker. */
class ClientVersionsTest {
    private static KafkaServer kafka;

    @BeforeAll
    static void start() {
        kafka = KafkaServer.start();
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    /** The build copies them there. */
    static List<Path> clients() throws IOException {
        try (Stream<Path> jars = Files.list(Path.of("target", "clients"))) {
            return jars.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    void an_older_client_delivers_waits_refuses_and_closes(Path client) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(classpath(client), ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(loader);
            Class<?> trip = loader.loadClass(RoundTrip.class.getName());
            String version = (String) trip.getMethod("make", String.class).invoke(null, kafka.bootstrapServers());

            assertThat(client).hasFileName("kafka-clients-" + version + ".jar");
            assertThat(version).isNotEqualTo(AppInfoParser.getVersion());
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** This test's classpath with another client. */
    private static URL[] classpath(Path client) throws MalformedURLException {
        List<URL> urls = new ArrayList<>(List.of(client.toUri().toURL()));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.contains("kafka-clients")) {
                urls.add(new File(entry).toURI().toURL());
            }
        }
        return urls.toArray(URL[]::new);
    }

    /** What runs inside; public for the way in. */
    public static final class RoundTrip {
        private RoundTrip() {}

        /** Uses a publisher in every way once and returns the version of the client that it ran on. */
        public static String make(String bootstrapServers) {
            String topic = "from-" + AppInfoParser.getVersion().replace('.', '-'); // the broker makes it on first use
            var settings = Map.of("bootstrap.servers", bootstrapServers);
            try (KafkaPublisher publisher = KafkaPublisher.builder(settings)
                    .deadLetterTopic(topic)
                    .format(MessageFormat.envelope())
                    .build()) {
                Topics.await(publisher.publish(Topics.event(topic, 1)));
                Topics.await(publisher.publishDead(Topics.event(topic, 2), "CODE", "message"));
                var large =
                        OutboxEvent.of(topic, "Big").text("x".repeat(2_000_000)).build();
                assertThat(Topics.failure(publisher.publish(large)).code()).isEqualTo("RECORD_TOO_LARGE");
            }
            refuseInARun(settings, topic);
            receive(bootstrapServers, topic);
            var elsewhere = Map.of("bootstrap.servers", "127.0.0.1:9", "max.block.ms", "100");
            try (KafkaPublisher publisher = KafkaPublisher.create(elsewhere)) {
                assertThat(Topics.failure(publisher.publish(Topics.event(topic, 1)))
                                .code())
                        .isEqualTo("NO_METADATA");
            }
            assertThat(catchThrowable(() -> KafkaPublisher.create(Map.of("acks", "1"))))
                    .isNotNull();
            assertThat(KafkaProducer.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .getPath())
                    .contains(AppInfoParser.getVersion());
            return AppInfoParser.getVersion();
        }

        /** Also what cannot be handled, so that a letter is written. */
        private static void receive(String bootstrapServers, String topic) {
            Set<String> seen = ConcurrentHashMap.newKeySet();
            Handlers handlers = Handlers.builder()
                    .otherwise()
                    .handle((event, context) -> {
                        String key = event.key().orElseThrow();
                        seen.add(key);
                        return key.equals("order-1") ? Handled.failed("BAD", "never") : Handled.done();
                    })
                    .build();
            KafkaFeed feed = KafkaFeed.builder(Map.of("bootstrap.servers", bootstrapServers, "group.id", topic)).stream(
                            topic)
                    .deadLetterTopic(topic + ".dead")
                    .build();
            try (Relay relay = Relay.from(feed).to(handlers).build()) {
                relay.start();
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> relay.publishedCount() >= 2 && seen.size() >= 3);
            }
            assertThat(seen).containsExactlyInAnyOrder("order-1", "order-2", "k");
        }

        private static void refuseInARun(Map<String, String> settings, String topic) {
            try (KafkaPublisher publisher =
                    KafkaPublisher.builder(settings).maxPayload(4_000_000).build()) {
                Publisher.Run run = publisher.run().orElseThrow();
                var keyed = OutboxEvent.of(topic, "Keyed").key("k");
                CompletionStage<?> before = run.publish(keyed.text("x").build());
                CompletionStage<?> refused =
                        run.publish(keyed.text("x".repeat(2_000_000)).build());
                CompletionStage<?> behind = run.publish(keyed.text("y").build());
                Topics.await(before);
                assertThat(Topics.failure(refused).code()).isEqualTo("RECORD_TOO_LARGE");
                assertThat(Topics.failure(behind).code()).isEqualTo("BEHIND_A_FAILURE");
            }
        }
    }
}
