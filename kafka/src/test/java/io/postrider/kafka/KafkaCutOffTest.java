// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.relay.Relay;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One consumer of a group does not reach the broker any more, and all others do. */
class KafkaCutOffTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration SESSION = Duration.ofSeconds(6);
    /** So many that each of the partitions has some. */
    private static final int KEYS = 16;

    private static TcpProxy proxy;
    private static KafkaServer kafka;

    private final String topic = "cut-off-" + UUID.randomUUID();
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch mayHurry = new CountDownLatch(1);

    private record Call(String relay, String event, long at) {}

    @BeforeAll
    static void start() {
        proxy = TcpProxy.open();
        kafka = KafkaServer.builder()
                .autoCreateTopics(false)
                .advertised(proxy.host(), proxy.port())
                .start();
        proxy.forwardTo("127.0.0.1", kafka.port());
    }

    @AfterAll
    static void stop() {
        kafka.close();
        proxy.close();
    }

    @BeforeEach
    void topics() {
        proxy.pass();
        kafka.createTopic(topic, 4);
        kafka.createTopic(topic + ".dead", 1);
    }

    @Test
    void itStartsNothingMoreBeforeAnotherHasItsPartitionsAndGoesOnWhenItIsBack() throws Exception {
        publish(0, 1_600);
        try (Relay alone = relay("alone", kafka.bootstrapServers());
                Relay other = relay("other", kafka.directBootstrapServers())) {
            alone.start();
            await().atMost(PATIENCE).until(() -> of("alone").size() > 40);
            proxy.blackHole();
            long cut = System.nanoTime();
            other.start();
            await().atMost(PATIENCE).until(() -> of("other").size() > 40);
            List<Call> before = of("alone");
            assertThat(before).as("it was in the middle of it").hasSizeLessThan(1_600);
            assertThat(before.stream().map(Call::at).filter(at -> at > cut))
                    .as("what it had, for a while")
                    .isNotEmpty();
            assertThat(before.get(before.size() - 1).at())
                    .as("when it started the last one")
                    .isLessThan(of("other").get(0).at())
                    .isLessThan(cut + SESSION.toNanos());
            proxy.pass();
            mayHurry.countDown();
            AtomicInteger sent = new AtomicInteger(1_600);
            await().atMost(PATIENCE).until(() -> {
                publish(sent.get(), sent.addAndGet(KEYS));
                return of("alone").size() > before.size();
            });
            await().atMost(PATIENCE).until(() -> committed() == sent.get());
            assertThat(calls.stream().map(Call::event).collect(Collectors.toSet()))
                    .hasSize(sent.get());
        }
        assertThat(Topics.read(kafka, topic + ".dead")).isEmpty();
    }

    @Test
    void oneThatHasNothingToCommitKeepsItsPlace() throws Exception {
        try (Relay alone = relay("alone", kafka.bootstrapServers())) {
            alone.start();
            publish(0, 1);
            await().atMost(PATIENCE).until(() -> calls.size() == 1);
            await().atMost(PATIENCE).until(() -> committed() == 1);
            // Nothing at all happens for longer than a session.
            TimeUnit.NANOSECONDS.sleep(SESSION.plusSeconds(2).toNanos());
            publish(1, 2);
            long sent = System.nanoTime();
            await().atMost(PATIENCE).until(() -> calls.size() == 2);
            assertThat(Duration.ofNanos(calls.get(1).at() - sent)).isLessThan(SESSION.dividedBy(2));
        }
    }

    @Test
    void aCutThatEndsBeforeTheSessionCostsNothing() throws Exception {
        publish(0, 400);
        try (Relay alone = relay("alone", kafka.bootstrapServers())) {
            alone.start();
            await().atMost(PATIENCE).until(() -> calls.size() > 40);
            proxy.blackHole();
            TimeUnit.NANOSECONDS.sleep(SESSION.dividedBy(3).toNanos());
            proxy.pass();
            await().atMost(PATIENCE).until(() -> committed() == 400);
        }
        assertThat(calls.stream().map(Call::event)).hasSize(400).doesNotHaveDuplicates();
    }

    private List<Call> of(String relay) {
        return calls.stream().filter(call -> call.relay().equals(relay)).toList();
    }

    private Relay relay(String name, String servers) {
        KafkaFeed feed = KafkaFeed.builder(Map.of(
                        "bootstrap.servers",
                        servers,
                        "group.id",
                        topic,
                        "heartbeat.interval.ms",
                        "500",
                        "session.timeout.ms",
                        String.valueOf(SESSION.toMillis())))
                .stream(topic)
                .deadLetterTopic(topic + ".dead")
                .build();
        Handlers slow = Handlers.builder()
                .on(topic, "T")
                .run(event -> {
                    calls.add(new Call(name, event.id().toString(), System.nanoTime()));
                    mayHurry.await(120, TimeUnit.MILLISECONDS);
                })
                .build();
        return Relay.from(feed).to(slow).name(name).build();
    }

    private void publish(int from, int to) {
        try (KafkaPublisher publisher = KafkaPublisher.create(direct())) {
            List<CompletionStage<?>> sent = new ArrayList<>();
            for (int i = from; i < to; i++) {
                sent.add(publisher.publish(OutboxEvent.of(topic, "T")
                        .key("k" + i % KEYS)
                        .text("-" + i / KEYS)
                        .build()));
            }
            sent.forEach(Topics::await);
        }
    }

    private static Map<String, Object> direct() {
        return new HashMap<>(Map.of("bootstrap.servers", kafka.directBootstrapServers()));
    }

    private long committed() throws Exception {
        try (Admin admin = Admin.create(direct())) {
            return admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get().values().stream()
                    .mapToLong(offset -> offset.offset())
                    .sum();
        }
    }
}
