// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.RetryPolicy;
import io.postrider.testkit.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers that are fed by a real broker. */
class KafkaFeedTest {
    private static final KafkaServer kafka = SharedBroker.KAFKA;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final RetryPolicy QUICK =
            RetryPolicy.delays(Duration.ofMillis(50)).attempts(3);

    private final String topic = "feed-" + UUID.randomUUID();
    private final String dead = topic + ".dead";

    private final Map<String, Object> settings = Topics.settings(kafka);

    @BeforeEach
    void topics() {
        settings.putAll(Map.of("group.id", topic, "heartbeat.interval.ms", "200"));
        kafka.createTopic(topic, 4);
        kafka.createTopic(dead, 1);
    }

    @Test
    void aHandlerGetsTheEventAsItWasAppended() {
        OutboxEvent event = OutboxEvent.of(topic, "OrderPlaced")
                .aggregate("Order", "o-1")
                .key("other key")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .occurredAt(Instant.parse("2026-03-01T10:15:30.123456Z"))
                .json("{\"a\": 1}")
                .build();
        OutboxEvent bare = OutboxEvent.of(topic, "Gone").build();
        publish(List.of(event, bare));
        List<OutboxEvent> seen = new CopyOnWriteArrayList<>();
        Handlers handlers = Handlers.builder().otherwise().run(seen::add).build();
        try (Relay relay = started(handlers)) {
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 2);
        }
        assertThat(seen).usingRecursiveFieldByFieldElementComparator().containsExactlyInAnyOrder(event, bare);
    }

    @Test
    void aRecordOfAnybodyElseHasAnIdThatStaysTheSame() {
        ConsumerRecord<byte[], byte[]> foreign =
                new ConsumerRecord<>("orders", 3, 17, null, "x".getBytes(StandardCharsets.UTF_8));
        foreign.headers()
                .add("postrider-event-id", "no uuid".getBytes(StandardCharsets.UTF_8))
                .add("postrider-occurred-at", "now".getBytes(StandardCharsets.UTF_8));
        foreign.headers().add("empty", null);
        ReceivedEvents events = new ReceivedEvents(Map.of("orders", "renamed"));
        OutboxEvent event = events.of(foreign);
        assertThat(event.id()).isEqualTo(events.of(foreign).id());
        assertThat(event.stream()).isEqualTo("renamed");
        assertThat(event.type()).isEqualTo("Record");
        assertThat(event.key()).isEmpty();
        assertThat(event.headers()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void eventsOfAKeyAreHandledOneAfterTheOtherAndThoseOfOthersAtOnce(String protocol) {
        Map<String, List<Integer>> seen = new ConcurrentHashMap<>();
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch eight = new CountDownLatch(8);
        Handlers handlers = Handlers.builder()
                .concurrency(8)
                .on(topic, "T")
                .run(event -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    eight.countDown();
                    eight.await();
                    seen.computeIfAbsent(
                                    event.key().orElseThrow(), key -> Collections.synchronizedList(new ArrayList<>()))
                            .add(number(event));
                    running.decrementAndGet();
                })
                .build();
        publish(numbered(400, 20));
        settings.put("group.protocol", protocol);
        if (protocol.equals("consumer")) {
            settings.remove("heartbeat.interval.ms");
        }
        try (Relay relay = started(handlers)) {
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 400);
            await().atMost(PATIENCE).until(() -> committed() == 400);
        }
        assertThat(most).hasValue(8);
        assertThat(seen).hasSize(20);
        assertThat(seen.values())
                .allSatisfy(numbers -> assertThat(numbers).hasSize(20).isSorted());
    }

    @Test
    void whatFailsIsRetriedInItsPlaceAndWhatCannotBeHandledLeavesForTheDeadWhileOthersFlow() {
        List<String> calls = new CopyOnWriteArrayList<>();
        Handlers handlers = Handlers.builder()
                .on(topic, "T")
                .handle((event, context) -> {
                    String key = event.key().orElseThrow();
                    calls.add(key + number(event) + "#" + context.attempt());
                    return switch (key) {
                        case "poison" -> number(event) == 0 ? Handled.retry("BUSY", "for ever") : Handled.done();
                        case "bad" -> number(event) == 0 ? Handled.failed("BAD", "never") : Handled.done();
                        case "doubt" -> number(event) == 0 ? Handled.unknown("LOST", "who knows") : Handled.done();
                        default -> Handled.done();
                    };
                })
                .build();
        List<OutboxEvent> events = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            for (String key : List.of("poison", "bad", "doubt", "good")) {
                events.add(event(key, i));
            }
        }
        publish(events);
        try (Relay relay = started(handlers)) {
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 5);
            await().atMost(PATIENCE).until(() -> committed() == 8);
        }
        assertThat(calls)
                .containsSubsequence("poison0#1", "poison0#2", "poison0#3", "poison1#1")
                .containsSubsequence("bad0#1", "bad1#1")
                .containsSubsequence("doubt0#1", "doubt1#1")
                .containsSubsequence("good0#1", "good1#1")
                .hasSize(10);
        Map<String, Map<String, String>> letters = new HashMap<>();
        Topics.read(kafka, dead).forEach(record -> letters.put(Topics.text(record.key()), Topics.headers(record)));
        assertThat(letters).containsOnlyKeys("poison", "bad", "doubt");
        assertThat(letters.get("poison"))
                .containsEntry("postrider-outcome", "DEAD")
                .containsEntry("postrider-attempts", "3")
                .containsEntry("postrider-error-code", "BUSY")
                .containsEntry("postrider-stream", topic)
                .containsEntry("postrider-event-id", events.get(0).id().toString());
        assertThat(letters.get("bad")).containsEntry("postrider-error-code", "BAD");
        assertThat(letters.get("doubt"))
                .containsEntry("postrider-outcome", "UNKNOWN")
                .containsEntry("postrider-error-message", "who knows");
    }

    @Test
    void anOutageOfAHandlersDestinationCostsNoAttempt() throws Exception {
        AtomicBoolean up = new AtomicBoolean();
        AtomicInteger refused = new AtomicInteger();
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        Handlers handlers = Handlers.builder()
                .on(topic, "T")
                .handle((event, context) -> {
                    if (!up.get()) {
                        refused.incrementAndGet();
                        throw new DestinationDownException("DOWN", "closed", null);
                    }
                    attempts.add(context.attempt());
                    return Handled.done();
                })
                .build();
        publish(numbered(50, 10));
        try (Relay relay = started(handlers)) {
            await().atMost(PATIENCE).until(() -> refused.get() > 12);
            assertThat(committed()).isZero();
            up.set(true);
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 50);
        }
        assertThat(attempts).hasSize(50).containsOnly(1);
    }

    @Test
    void aSecondConsumerTakesItsShareWithoutADuplicateAndAStopLeavesNothingUncommitted() {
        Map<String, List<Integer>> seen = new ConcurrentHashMap<>();
        AtomicInteger handled = new AtomicInteger();
        AtomicBoolean second = new AtomicBoolean();
        List<CompletionStage<?>> sent = new ArrayList<>();
        try (KafkaPublisher publisher = KafkaPublisher.create(Topics.settings(kafka));
                Relay one = relay(recording(seen, handled, new AtomicBoolean())).build()) {
            one.start();
            Relay two = relay(recording(seen, handled, second)).build();
            int n = 0;
            boolean started = false;
            while (!second.get() || n < 600) {
                sent.add(publisher.publish(event("k" + n % 30, n / 30)));
                n++;
                Topics.await(sent.get(sent.size() - 1));
                if (!started && n == 100) {
                    started = true;
                    two.start();
                }
            }
            int all = n;
            // Before the stop: what it had finished behind something that it had not would be handled again.
            await().atMost(PATIENCE).until(() -> handled.get() >= all);
            two.close();
            await().atMost(PATIENCE).until(() -> committed() == all);
            assertThat(handled).hasValue(all);
        }
        assertThat(seen.values()).allSatisfy(numbers -> assertThat(numbers).isSorted());
    }

    @Test
    void aPartitionIsHandedOverWhenItsHandlersHaveEnded() throws Exception {
        CountDownLatch running = new CountDownLatch(8);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        Handlers slow = Handlers.builder()
                .on(topic, "T")
                .run(event -> {
                    first.incrementAndGet();
                    running.countDown();
                    mayEnd.await();
                })
                .build();
        publish(numbered(8, 8));
        try (Relay one = started(slow)) {
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            try (Relay two = started(Handlers.builder()
                    .on(topic, "T")
                    .run(event -> second.incrementAndGet())
                    .build())) {
                await().atMost(PATIENCE).until(() -> members().size() == 2);
                assertThat(one.inFlight()).isEqualTo(8);
                mayEnd.countDown();
                await().atMost(PATIENCE)
                        .until(() -> committed() == 8 && members().equals(List.of(2, 2)));
                publish(numbered(80, 40));
                await().atMost(PATIENCE).until(() -> committed() == 88);
                assertThat(two.publishedCount()).as("it has its share").isPositive();
            }
        }
        assertThat(first.get() + second.get()).isEqualTo(88);
    }

    @Test
    void whatHasNoPlaceAmongTheDeadHoldsItsKeyAndIsNotHandledAgain() throws Exception {
        String later = topic + ".later";
        List<String> calls = new CopyOnWriteArrayList<>();
        List<String> told = new CopyOnWriteArrayList<>();
        Handlers handlers = Handlers.builder()
                .on(topic, "T")
                .handle((event, context) -> {
                    calls.add(event.key().orElseThrow() + number(event));
                    return number(event) == 0 && event.key().orElseThrow().equals("k0")
                            ? Handled.unknown("LOST", "who knows")
                            : Handled.done();
                })
                .build();
        publish(numbered(20, 10));
        RelayListener listener = new RelayListener() {
            @Override
            public void unknown(OutboxEvent event, int failed, String code, String message) {
                told.add(code);
            }
        };
        KafkaFeed feed =
                KafkaFeed.builder(settings).stream(topic).deadLetterTopic(later).build();
        try (LogLines log = new LogLines();
                Relay relay = Relay.from(feed).to(handlers).listener(listener).build()) {
            relay.start();
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 18);
            await().atMost(PATIENCE).until(() -> log.contain("could not be written to the dead-letter topic"));
            await().atMost(PATIENCE).until(() -> calls.size() == 19);
            assertThat(calls).containsOnlyOnce("k00").doesNotContain("k01");
            assertThat(told).isEmpty();
            kafka.createTopic(later, 1);
            await().atMost(PATIENCE).until(() -> committed() == 20);
            await().atMost(PATIENCE).until(() -> relay.publishedCount() == 19);
            assertThat(calls).containsOnlyOnce("k00", "k01");
            assertThat(told).containsExactly("LOST");
        }
        assertThat(Topics.headers(Topics.readOnly(kafka, later))).containsEntry("postrider-outcome", "UNKNOWN");
    }

    @Test
    void aRelayThatIsPausedLeavesItsPartitionsAndGetsThemBack() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        publish(numbered(10, 10));
        try (Relay relay = started(recording(new ConcurrentHashMap<>(), handled, new AtomicBoolean()))) {
            await().atMost(PATIENCE).until(() -> committed() == 10);
            relay.pause();
            await().atMost(PATIENCE).until(() -> members().isEmpty());
            publish(numbered(10, 10));
            relay.resume();
            await().atMost(PATIENCE).until(() -> committed() == 20);
        }
        assertThat(handled).hasValue(20);
    }

    /** How many partitions each has. */
    private List<Integer> members() throws Exception {
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            return admin.describeConsumerGroups(List.of(topic)).all().get().values().stream()
                    .flatMap(group -> group.members().stream())
                    .map(member -> member.assignment().topicPartitions().size())
                    .toList();
        }
    }

    private Handlers recording(Map<String, List<Integer>> seen, AtomicInteger handled, AtomicBoolean any) {
        return Handlers.builder()
                .on(topic, "T")
                .run(event -> {
                    any.set(true);
                    seen.computeIfAbsent(
                                    event.key().orElseThrow(), key -> Collections.synchronizedList(new ArrayList<>()))
                            .add(number(event));
                    handled.incrementAndGet();
                })
                .build();
    }

    private RelaySettings.Builder relay(Handlers handlers) {
        return Relay.from(KafkaFeed.builder(Map.of(
                                "bootstrap.servers",
                                kafka.bootstrapServers(),
                                "group.id",
                                topic,
                                "heartbeat.interval.ms",
                                "200"))
                        .stream(topic)
                        .deadLetterTopic(dead)
                        .build())
                .to(handlers)
                .retry(QUICK);
    }

    private Relay started(Handlers handlers) {
        Relay relay = relay(handlers).build();
        relay.start();
        return relay;
    }

    private OutboxEvent event(String key, int number) {
        return OutboxEvent.of(topic, "T").key(key).text("" + number).build();
    }

    private static int number(OutboxEvent event) {
        return Integer.parseInt(Topics.text(Objects.requireNonNull(event.payload())));
    }

    private List<OutboxEvent> numbered(int count, int keys) {
        List<OutboxEvent> events = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            events.add(event("k" + i % keys, i / keys));
        }
        return events;
    }

    private static void publish(List<OutboxEvent> events) {
        try (KafkaPublisher publisher = KafkaPublisher.create(Topics.settings(kafka))) {
            events.forEach(event -> Topics.await(publisher.publish(event)));
        }
    }

    /** How many records of the topic the group has done with. */
    private long committed() throws Exception {
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            return admin.listConsumerGroupOffsets(topic).partitionsToOffsetAndMetadata().get().values().stream()
                    .mapToLong(offset -> offset.offset())
                    .sum();
        }
    }
}
