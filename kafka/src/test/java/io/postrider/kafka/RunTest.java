// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static io.postrider.kafka.Topics.await;
import static io.postrider.kafka.Topics.failure;
import static io.postrider.kafka.Topics.settings;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.Publisher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.common.Cluster;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several events of a key under way: whatever becomes of one, nothing is delivered behind a failure. */
class RunTest {
    @Test
    void what_is_behind_a_record_that_the_broker_refuses_is_called_back() throws Exception {
        create("narrow", Map.of("max.message.bytes", "20000"));
        try (KafkaPublisher publisher = KafkaPublisher.create(settings(SharedBroker.KAFKA))) {
            for (int round = 0; round < 20; round++) {
                String key = "key-" + round;
                Publisher.Run run = publisher.run().orElseThrow();
                List<CompletionStage<?>> before = publish(run, key, 5, 10);
                CompletionStage<?> refused = publish(run, key, 1, 50_000).get(0);
                List<CompletionStage<?>> behind = publish(run, key, 60, 10);
                List<CompletionStage<?>> other = publish(publisher.run().orElseThrow(), "other-" + round, 1, 10);

                before.forEach(Topics::await);
                assertThat(failure(refused)).isInstanceOf(PermanentFailureException.class);
                assertThat(failure(refused).code()).isEqualTo("RECORD_TOO_LARGE");
                behind.forEach(answer -> assertThat(failure(answer)).isInstanceOf(NotSentException.class));
                assertThat(failure(publish(run, key, 1, 10).get(0)))
                        .as("a run that failed takes nothing more")
                        .isInstanceOf(NotSentException.class);
                other.get(0)
                        .toCompletableFuture()
                        .handle((taken, failure) -> null)
                        .get(30, TimeUnit.SECONDS);

                publish(publisher.run().orElseThrow(), key, 1, 11).forEach(Topics::await);
            }
        }
        Map<String, List<Integer>> arrived = new TreeMap<>();
        Topics.read(SharedBroker.KAFKA, "narrow")
                .forEach(record -> arrived.computeIfAbsent(Topics.text(record.key()), key -> new ArrayList<>())
                        .add(record.value().length));
        arrived.keySet().removeIf(key -> key.startsWith("other"));
        assertThat(arrived)
                .hasSize(20)
                .values()
                .allSatisfy(sizes -> assertThat(sizes).containsExactly(10, 10, 10, 10, 10, 11));
    }

    @Test
    void what_waits_for_its_topic_behind_one_that_waited_too_long_is_not_sent_when_it_appears() throws Exception {
        PublishException failure = behindOneThatWaitedFor(2_000);
        // Longer where the topic took so long to appear that the second one had waited too long itself.
        for (int millis = 4_000; failure.code().equals("UNKNOWN_TOPIC") && millis <= 16_000; millis *= 2) {
            failure = behindOneThatWaitedFor(millis);
        }
        assertThat(failure).isInstanceOf(NotSentException.class);
    }

    private static PublishException behindOneThatWaitedFor(int millis) throws InterruptedException {
        String topic = "late-topic-" + millis;
        Map<String, Object> patient = settings(SharedBroker.KAFKA);
        patient.put("max.block.ms", "" + millis);
        try (KafkaPublisher publisher = KafkaPublisher.create(patient)) {
            Publisher.Run run = publisher.run().orElseThrow();
            CompletionStage<?> first = run.publish(event(topic, "k", 10));
            TimeUnit.MILLISECONDS.sleep(millis * 3L / 4);
            CompletionStage<?> second = run.publish(event(topic, "k", 20));
            assertThat(failure(first)).isInstanceOf(DestinationDownException.class);
            create(topic, Map.of());

            PublishException failure = failure(second);
            // The client may still hold the old answer for a moment.
            Awaitility.await()
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> isTaken(publisher.run().orElseThrow().publish(event(topic, "k", 30))));
            assertThat(Topics.readOnly(SharedBroker.KAFKA, topic).value()).hasSize(30);
            return failure;
        }
    }

    @Test
    @Timeout(60)
    void who_shares_a_batch_with_a_record_that_is_invalid_is_not_blamed() {
        create("keyed-only", Map.of("cleanup.policy", "compact"));
        Map<String, Object> slow = settings(SharedBroker.KAFKA);
        slow.put("linger.ms", "200");
        try (KafkaPublisher publisher = KafkaPublisher.create(slow)) {
            // So that the topic is known and all that follows is in one batch.
            await(publisher.publish(event("keyed-only", "first", 10)));
            CompletionStage<?> bystander;
            do {
                // Once more where a batch went between the two.
                bystander = publisher.publish(event("keyed-only", "k", 10));
                CompletionStage<?> invalid = publisher.publish(OutboxEvent.of("keyed-only", "Keyless")
                        .payload(new byte[10])
                        .build());
                assertThat(failure(invalid).code()).isEqualTo("INVALID_RECORD");
                assertThat(failure(invalid)).isInstanceOf(PermanentFailureException.class);
            } while (isTaken(bystander));
            assertThat(failure(bystander).code()).isEqualTo("BATCH_REFUSED");
            assertThat(failure(bystander)).isInstanceOf(NotSentException.class);
        }
    }

    @Test
    void settings_under_which_a_later_record_could_pass_an_earlier_one_allow_no_runs() {
        assertThat(offersRuns(Map.of())).isTrue();
        assertThat(offersRuns(Map.of("max.in.flight.requests.per.connection", "2")))
                .isFalse();
        assertThat(offersRuns(Map.of("partitioner.class", EveryoneToTheFirst.class.getName())))
                .isFalse();
        try (KafkaPublisher byEvent = KafkaPublisher.builder(settings(SharedBroker.KAFKA))
                .topic(OutboxEvent::type)
                .build()) {
            assertThat(byEvent.run()).isEmpty();
        }
        try (KafkaPublisher byStream = KafkaPublisher.builder(settings(SharedBroker.KAFKA))
                .topic("orders", "orders-v2")
                .build()) {
            assertThat(byStream.run()).isPresent();
        }
    }

    @Test
    void a_run_moves_to_another_producer_only_when_all_on_the_first_are_answered() {
        SendRun run = new SendRun();
        assertThat(run.enter("one")).isTrue();
        run.leave();
        assertThat(run.enter("two")).isTrue();
        assertThat(run.enter("two")).isTrue();
        run.leave();
        assertThat(run.enter("three")).isFalse();
        run.leave();
        assertThat(run.enter("three")).as("once refused, always refused").isFalse();
    }

    /** Needs a public constructor, as Kafka makes it. */
    public static final class EveryoneToTheFirst implements Partitioner {
        @Override
        public int partition(
                String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
            return 0;
        }

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}
    }

    private static boolean offersRuns(Map<String, Object> more) {
        Map<String, Object> settings = settings(SharedBroker.KAFKA);
        settings.putAll(more);
        try (KafkaPublisher publisher = KafkaPublisher.create(settings)) {
            return publisher.run().isPresent();
        }
    }

    private static List<CompletionStage<?>> publish(Publisher.Run run, String key, int count, int size) {
        List<CompletionStage<?>> answers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            answers.add(run.publish(event("narrow", key, size)));
        }
        return answers;
    }

    private static OutboxEvent event(String topic, String key, int size) {
        return OutboxEvent.of(topic, "T").key(key).payload(new byte[size]).build();
    }

    /** Waits for the answer, whatever it is. */
    private static boolean isTaken(CompletionStage<?> answer) {
        return answer.toCompletableFuture()
                .handle((where, failure) -> failure == null)
                .orTimeout(30, TimeUnit.SECONDS)
                .join();
    }

    private static void create(String topic, Map<String, String> config) {
        SharedBroker.KAFKA.createTopic(topic, 1, config);
    }
}
