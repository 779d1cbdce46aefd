// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RetryPolicy;
import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of events whose partitions go to others just then. */
class KafkaHandOverTest {
    private static final KafkaServer kafka = SharedBroker.KAFKA;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Whoever waits for all of it fails. */
    private static final Duration LONG = Duration.ofMinutes(2);

    private final String topic = "handover-" + UUID.randomUUID();
    private final String dead = topic + ".dead";
    private final Map<String, Object> settings = Topics.settings(kafka);
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final CountDownLatch mayEnd = new CountDownLatch(1);

    @BeforeEach
    void topics() {
        settings.putAll(Map.of("group.id", topic, "heartbeat.interval.ms", "200"));
        kafka.createTopic(topic, 4);
    }

    @Test
    void aVerdictThatIsReachedDuringAHandOverIsWrittenAndNobodyWaitsForWhatHasEnded() throws Exception {
        kafka.createTopic(dead, 1);
        publish("doubt", "bad", "busy", "good");
        try (Relay relay = relay(ending(), LONG)) {
            relay.start();
            await().atMost(PATIENCE).until(() -> calls.size() == 4);
            pauseAndWaitForTheHandOver(relay);
            mayEnd.countDown();
            await().atMost(PATIENCE).until(() -> group().members().isEmpty());
            assertThat(Topics.read(kafka, dead))
                    .extracting(record -> Topics.text(record.key()))
                    .containsExactlyInAnyOrder("doubt", "bad");
            relay.resume();
            await().atMost(PATIENCE).until(() -> committed() == 4);
            await().atMost(PATIENCE).until(() -> told.size() == 2);
        }
        assertThat(calls)
                .as("a retry was the next owner's, who begins to count anew")
                .containsExactlyInAnyOrder("doubt#1", "bad#1", "busy#1", "good#1", "busy#1");
        assertThat(told).containsExactlyInAnyOrder("LOST", "BAD");
    }

    @Test
    void aDeadLetterThatWasNotTakenIsSentAgainDuringAHandOver() throws Exception {
        publish("doubt");
        try (LogLines log = new LogLines();
                Relay relay = relay(ending(), LONG)) {
            relay.start();
            await().atMost(PATIENCE).until(() -> calls.size() == 1);
            pauseAndWaitForTheHandOver(relay);
            mayEnd.countDown();
            await().atMost(PATIENCE).until(() -> log.contain("could not be written to the dead-letter topic"));
            assertThat(group().members()).isNotEmpty();
            kafka.createTopic(dead, 1);
            await().atMost(PATIENCE).until(() -> group().members().isEmpty());
        }
        assertThat(committed()).isEqualTo(1);
        assertThat(Topics.headers(Topics.readOnly(kafka, dead))).containsEntry("postrider-outcome", "UNKNOWN");
        assertThat(calls).containsExactly("doubt#1");
    }

    @Test
    void aStopDuringARebalanceCommitsWhatWasFinishedMeanwhile() throws Exception {
        kafka.createTopic(dead, 1);
        AtomicInteger handled = new AtomicInteger();
        Handlers handlers = Handlers.builder()
                .on(topic, "T")
                .run(event -> {
                    calls.add(event.key().orElseThrow());
                    mayEnd.await();
                    handled.incrementAndGet();
                })
                .build();
        settings.put("partition.assignment.strategy", NotingAssignor.class.getName());
        try (Member slow = new Member();
                Member late = new Member();
                Relay relay = relay(handlers, Duration.ofSeconds(30))) {
            relay.start();
            slow.start();
            // Until somebody has joined there is no such group.
            await().atMost(PATIENCE)
                    .ignoreExceptions()
                    .until(() -> group().groupState() == GroupState.STABLE && isShared(2));
            publish("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l");
            await().atMost(PATIENCE).until(() -> !calls.isEmpty());
            slow.polls = false;
            int joins = NotingAssignor.JOINS.get();
            late.start();
            // The relay's consumer has heard of it, and waits for the slow one.
            await().atMost(PATIENCE)
                    .until(() -> group().groupState() == GroupState.PREPARING_REBALANCE
                            && NotingAssignor.JOINS.get() > joins);
            mayEnd.countDown();
            await().atMost(PATIENCE).until(() -> relay.inFlight() == 0);
            assertThat(handled.get()).isPositive();
            Thread closing = new Thread(relay::close);
            closing.start();
            await().atMost(PATIENCE).until(() -> relaysConsumerIsIn("commitFinished"));
            slow.polls = true;
            closing.join(PATIENCE.toMillis());
            assertThat(closing.isAlive()).isFalse();
            assertThat(committed()).isEqualTo(handled.get());
        }
    }

    @Test
    void aConsumerThatMeetsAnErrorIsOpenedAnew() {
        kafka.createTopic(dead, 1);
        settings.put("interceptor.classes", MoodyInterceptor.class.getName());
        MoodyInterceptor.ERRORS.set(1);
        mayEnd.countDown();
        publish("good");
        try (Relay relay = relay(ending(), LONG)) {
            relay.start();
            await().atMost(PATIENCE).until(() -> committed() == 1);
        }
        assertThat(MoodyInterceptor.ERRORS).hasValue(0);
        assertThat(calls).containsExactly("good#1");
    }

    /** One by whom the events are not handled: all that it does is to take part. */
    private final class Member extends Thread implements AutoCloseable {
        private volatile boolean polls = true;
        private volatile boolean ends;

        @Override
        public void run() {
            Map<String, Object> own = new HashMap<>(settings);
            own.put("enable.auto.commit", "false");
            own.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
            try (KafkaConsumer<byte[], byte[]> consumer =
                    new KafkaConsumer<>(own, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.subscribe(List.of(topic));
                while (!ends) {
                    if (polls) {
                        consumer.poll(Duration.ofMillis(50));
                    } else {
                        LockSupport.parkNanos(10_000_000);
                    }
                }
            }
        }

        @Override
        public void close() {
            ends = true;
            try {
                join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isShared(int members) throws Exception {
        Set<String> holders = new HashSet<>();
        group().members().stream()
                .filter(member -> !member.assignment().topicPartitions().isEmpty())
                .forEach(member -> holders.add(member.consumerId()));
        return holders.size() == members;
    }

    /** Each ends as its key says, when it may. */
    private Handlers ending() {
        return Handlers.builder()
                .on(topic, "T")
                .handle((event, context) -> {
                    String key = event.key().orElseThrow();
                    boolean again = calls.stream().anyMatch(call -> call.startsWith(key));
                    calls.add(key + "#" + context.attempt());
                    mayEnd.await();
                    return switch (key) {
                        case "doubt" -> Handled.unknown("LOST", "who knows");
                        case "bad" -> Handled.failed("BAD", "never");
                        case "busy" -> again ? Handled.done() : Handled.retry("BUSY", "later");
                        default -> Handled.done();
                    };
                })
                .build();
    }

    private static void pauseAndWaitForTheHandOver(Relay relay) {
        relay.pause();
        await().atMost(PATIENCE).until(() -> relaysConsumerIsIn("awaitFinished"));
    }

    /** Whether the thread that has the relay's consumer is in this method now. */
    private static boolean relaysConsumerIsIn(String method) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey() instanceof ConsumerThread)
                .flatMap(each -> Stream.of(each.getValue()))
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    private Relay relay(Handlers handlers, Duration handOverTime) {
        KafkaFeed feed = KafkaFeed.builder(settings).stream(topic)
                .deadLetterTopic(dead)
                .handOverTime(handOverTime)
                .build();
        RelayListener listener = new RelayListener() {
            @Override
            public void unknown(OutboxEvent event, int failed, String code, String message) {
                told.add(code);
            }

            @Override
            public void dead(OutboxEvent event, int failed, String code, String message) {
                told.add(code);
            }
        };
        return Relay.from(feed)
                .to(handlers)
                .retry(RetryPolicy.delays(Duration.ofMillis(50)).attempts(3))
                .listener(listener)
                .build();
    }

    private void publish(String... keys) {
        try (KafkaPublisher publisher = KafkaPublisher.create(Topics.settings(kafka))) {
            for (String key : keys) {
                Topics.await(publisher.publish(
                        OutboxEvent.of(topic, "T").key(key).text("x").build()));
            }
        }
    }

    private ConsumerGroupDescription group() throws Exception {
        try (Admin admin = Admin.create(Topics.settings(kafka))) {
            return Objects.requireNonNull(
                    admin.describeConsumerGroups(List.of(topic)).all().get().get(topic));
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
