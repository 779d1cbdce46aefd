// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static io.postrider.kafka.Topics.await;
import static io.postrider.kafka.Topics.event;
import static io.postrider.kafka.Topics.failure;
import static io.postrider.kafka.Topics.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.PublishException;
import io.postrider.testkit.KafkaServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Sends that Kafka does not answer: brokers that die, that hang, and a topic that alone is in trouble. */
class DoubtfulSendTest {
    private static KafkaServer kafka;

    @BeforeAll
    static void start() {
        kafka = KafkaServer.builder().autoCreateTopics(false).startProcess();
        List.of("hanging", "closing").forEach(topic -> kafka.createTopic(topic, 1));
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @Test
    void a_topic_in_trouble_is_answered_in_time_and_a_healthy_one_never_fails() {
        kafka.createTopic("healthy", 4);

        try (KafkaPublisher publisher = publisher("doubt", Duration.ofSeconds(3))) {
            for (String troubled : List.of("troubled-1", "troubled-2")) {
                PublishException failure;
                int healthy;
                do {
                    knownAndDeleted(publisher, troubled); // the client goes on trying
                    CompletionStage<?> doubtful = publisher.publish(event(troubled, 1));
                    healthy = 0;
                    while (!doubtful.toCompletableFuture().isDone()) {
                        await(publisher.publish(event("healthy", healthy++)));
                    }
                    failure = failure(doubtful);
                } while (hasHeardOfIt(failure));

                assertThat(failure)
                        .isInstanceOf(DestinationDownException.class)
                        .hasMessage("Kafka did not answer within PT3S whether it took the record for topic " + troubled
                                + ", so it may arrive twice.");
                assertThat(failure.code()).isEqualTo("NO_ANSWER");
                assertThat(healthy).isGreaterThan(10);
                await(publisher.publish(event("healthy", healthy)));
            }
            List<String> third = List.of("kafka-producer-network-thread | doubt-3");
            Awaitility.await().until(() -> Topics.threads("doubt").equals(third));
        }
        assertThat(Topics.threads("doubt")).isEmpty();
    }

    @Test
    void a_healthy_send_may_finish_on_a_producer_that_is_being_replaced() {
        kafka.createTopic("slow", 1);

        try (KafkaPublisher publisher = publisher("finish", Duration.ofSeconds(8))) {
            deliverAll(publisher, List.of(event("slow", 0)));
            CompletionStage<?> doubtful;
            do {
                knownAndDeleted(publisher, "lost");
                doubtful = publisher.publish(event("lost", 1));
                // Well before it is given up, and well behind it, so that what is sent then is not given up with it.
                long later = System.nanoTime() + Duration.ofSeconds(5).toNanos();
                while (System.nanoTime() - later < 0) {
                    await(publisher.publish(event("slow", 1)));
                }
            } while (doubtful.toCompletableFuture().isDone() && hasHeardOfIt(failure(doubtful)));

            kafka.pause();
            CompletionStage<?> underWay = publisher.publish(event("slow", 2));
            try {
                Awaitility.await().until(() -> Topics.threads("finish-2").size() == 1);
                assertThat(doubtful.toCompletableFuture()).isNotDone();
                assertThat(underWay.toCompletableFuture()).isNotDone();
            } finally {
                kafka.resume();
            }

            await(underWay);
            assertThat(failure(doubtful).code()).isEqualTo("NO_ANSWER");
            Awaitility.await().until(() -> Topics.threads("finish").size() == 1);
        }
    }

    @Test
    void a_producer_that_cannot_be_replaced_at_once_is_replaced_later() {
        kafka.createTopic("served", 1);
        Map<String, Object> settings = settings(kafka);
        settings.put("client.id", "moody");
        settings.put("metric.reporters", MoodyReporter.class.getName());

        try (KafkaPublisher publisher = KafkaPublisher.builder(settings)
                .sendTimeout(Duration.ofSeconds(1))
                .build()) {
            PublishException failure;
            do {
                knownAndDeleted(publisher, "missing");
                MoodyReporter.REFUSES.set(true);
                failure = failure(publisher.publish(event("missing", 1)));
                MoodyReporter.REFUSES.set(!hasHeardOfIt(failure));
            } while (hasHeardOfIt(failure));
            assertThat(failure.code()).isEqualTo("NO_ANSWER");

            failure = failure(publisher.publish(event("served", 1)));
            assertThat(failure)
                    .isInstanceOf(DestinationDownException.class)
                    .hasMessage("No producer could be opened to send to topic served. The log says why; it is tried"
                            + " again every second.");
            assertThat(failure.code()).isEqualTo("NO_PRODUCER");

            MoodyReporter.REFUSES.set(false);
            deliverAll(publisher, List.of(event("served", 2)));
        } finally {
            MoodyReporter.REFUSES.set(false);
        }
        assertThat(Topics.threads("moody")).isEmpty();
    }

    @Test
    void a_broker_that_hangs_is_given_up_in_time_and_used_again_when_it_goes_on() {
        try (KafkaPublisher publisher = publisher("hang", Duration.ofSeconds(1))) {
            deliverAll(publisher, List.of(event("hanging", 0)));

            kafka.pause();
            try {
                List<? extends CompletionStage<?>> doubtful = IntStream.range(0, 20)
                        .mapToObj(i -> publisher.publish(event("hanging", i)))
                        .toList();
                assertThat(doubtful)
                        .allSatisfy(answer -> assertThat(failure(answer).code()).isEqualTo("NO_ANSWER"));
                assertThat(failure(publisher.publish(event("hanging", 1))).code())
                        .isEqualTo("NO_METADATA");
            } finally {
                kafka.resume();
            }

            deliverAll(publisher, List.of(event("hanging", 1)));
            Awaitility.await().until(() -> Topics.threads("hang").size() == 1);
        }
    }

    @Test
    void a_publisher_closes_while_its_broker_hangs() {
        KafkaPublisher publisher = publisher("stuck", Duration.ofSeconds(20));
        await(publisher.publish(event("closing", 0)));

        kafka.pause();
        try {
            CompletionStage<?> underWay = publisher.publish(event("closing", 1));
            CompletionStage<?> waiting = publisher.publish(event("never-seen", 1));
            publisher.close();

            assertThat(failure(underWay).code()).isEqualTo("CLOSED");
            assertThat(failure(waiting).code()).isEqualTo("CLOSED");
            assertThat(Topics.threads("stuck")).isEmpty();
            assertThat(Topics.ownThreads()).isEmpty();
        } finally {
            kafka.resume();
        }
    }

    @Test
    void a_broker_killed_in_the_middle_leaves_no_send_without_answer_and_loses_none_that_is_sent_again() {
        kafka.createTopic("killed", 4);
        List<OutboxEvent> events = IntStream.range(0, 2000)
                .mapToObj(i -> OutboxEvent.of("killed", "OrderPlaced")
                        .key("order-" + i)
                        .text("x".repeat(10_000))
                        .build())
                .toList();

        try (KafkaPublisher publisher = publisher("kill", Duration.ofSeconds(2))) {
            deliverAll(publisher, List.of(event("killed", 0)));
            int last = events.size() - 1;
            List<CompletionStage<?>> answers = new ArrayList<>();
            events.subList(0, last).forEach(event -> answers.add(publisher.publish(event)));
            await(answers.get(0)); // the signal that the rest is on its way
            kafka.kill();
            // All others may have arrived if this thread stood still until now.
            answers.add(publisher.publish(events.get(last)));
            CompletableFuture<Void> restart = CompletableFuture.runAsync(kafka::startAgain);
            List<OutboxEvent> failed = IntStream.range(0, events.size())
                    .filter(i -> !isDelivered(answers.get(i)))
                    .mapToObj(events::get)
                    .toList();
            assertThat(failed).isNotEmpty();

            deliverAll(publisher, failed);
            restart.join();

            assertThat(Topics.read(kafka, "killed").stream()
                            .map(record -> Topics.headers(record).get("postrider-event-id")))
                    .containsAll(
                            events.stream().map(event -> event.id().toString()).toList());
            Awaitility.await().until(() -> Topics.threads("kill").size() == 1);
        }
    }

    /** Deletes a topic that the client has just used, and goes on trying unless it asks for the topic once more. */
    private static void knownAndDeleted(KafkaPublisher publisher, String topic) {
        kafka.createTopic(topic, 1);
        deliverAll(publisher, List.of(event(topic, 0)));
        delete(topic);
    }

    /** Whether the client had asked for the topic when it was gone: then it did not go on trying, and that shows nothing. */
    private static boolean hasHeardOfIt(PublishException failure) {
        return failure.code().equals("UNKNOWN_TOPIC");
    }

    private static void delete(String topic) {
        try (Admin admin = Admin.create(settings(kafka))) {
            admin.deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
            // The broker hears of it from its controller, first its catalogue and then its logs.
            Awaitility.await()
                    .until(() -> !admin.listTopics()
                            .names()
                            .get(30, TimeUnit.SECONDS)
                            .contains(topic));
            Awaitility.await().until(() -> !hasLogOf(topic, admin));
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("topic " + topic + " was not deleted", e);
        }
    }

    private static boolean hasLogOf(String topic, Admin admin) throws Exception {
        return admin.describeLogDirs(List.of(1)).allDescriptions().get(30, TimeUnit.SECONDS).values().stream()
                .flatMap(directories -> directories.values().stream())
                .flatMap(directory -> directory.replicaInfos().keySet().stream())
                .anyMatch(partition -> partition.topic().equals(topic));
    }

    private static KafkaPublisher publisher(String clientId, Duration sendTimeout) {
        Map<String, Object> settings = settings(kafka);
        settings.put("client.id", clientId);
        return KafkaPublisher.builder(settings).sendTimeout(sendTimeout).build();
    }

    /** Publishes again what failed, as a relay does, until nothing is left. */
    private static void deliverAll(KafkaPublisher publisher, List<OutboxEvent> events) {
        List<OutboxEvent> open = new ArrayList<>(events);
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> {
            List<? extends CompletionStage<?>> answers =
                    open.stream().map(publisher::publish).toList();
            for (int i = answers.size() - 1; i >= 0; i--) {
                if (isDelivered(answers.get(i))) {
                    open.remove(i);
                }
            }
            return open.isEmpty();
        });
    }

    /** Waits for the answer, whatever it is. */
    private static boolean isDelivered(CompletionStage<?> answer) {
        boolean delivered = answer.toCompletableFuture()
                .handle((where, error) -> error == null)
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
        if (!delivered) {
            assertThat(failure(answer)).isInstanceOf(DestinationDownException.class);
        }
        return delivered;
    }
}
