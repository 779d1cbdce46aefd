// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.DestinationDownException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.LeaderNotAvailableException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.apache.kafka.common.errors.UnknownServerException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class KafkaFailuresTest {
    private static final KafkaFailures FAILURES = new KafkaFailures(Secrets.in(Map.of()));

    @ParameterizedTest
    @MethodSource("failures")
    void every_failure_has_a_culprit_and_a_code(
            Throwable error, Class<? extends PublishException> culprit, String code) {
        for (Throwable wrapped : new Throwable[] {
            error, new CompletionException(error), new ExecutionException(error), new KafkaException("in short", error)
        }) {
            PublishException failure = FAILURES.of(wrapped, "orders");

            assertThat(failure).isExactlyInstanceOf(culprit).hasNoCause();
            assertThat(failure.code()).isEqualTo(code);
            assertThat(failure).hasMessageStartingWith("Kafka did not take the record for topic orders: ");
        }
    }

    static Stream<Arguments> failures() {
        Class<?> event = PermanentFailureException.class;
        Class<?> attempt = RetryableFailureException.class;
        Class<?> down = DestinationDownException.class;
        return Stream.of(
                Arguments.of(new RecordTooLargeException("x"), event, "RECORD_TOO_LARGE"),
                Arguments.of(new RecordBatchTooLargeException("x"), event, "RECORD_TOO_LARGE"),
                Arguments.of(new SerializationException("x"), event, "SERIALIZATION"),
                Arguments.of(new InvalidTopicException("x"), event, "INVALID_TOPIC"),
                Arguments.of(new InvalidRecordException("x"), event, "INVALID_RECORD"),
                Arguments.of(new UnsupportedForMessageFormatException("x"), event, "UNSUPPORTED_FOR_MESSAGE_FORMAT"),
                Arguments.of(new TimeoutException("x"), down, "TIMEOUT"),
                Arguments.of(new BufferExhaustedException("x"), down, "BUFFER_FULL"),
                Arguments.of(DisconnectException.INSTANCE, down, "DISCONNECTED"),
                Arguments.of(new NetworkException("x"), down, "DISCONNECTED"),
                Arguments.of(new NotEnoughReplicasException("x"), down, "NOT_ENOUGH_REPLICAS"),
                Arguments.of(new NotEnoughReplicasAfterAppendException("x"), down, "NOT_ENOUGH_REPLICAS"),
                Arguments.of(new UnknownTopicOrPartitionException("x"), down, "UNKNOWN_TOPIC"),
                Arguments.of(new LeaderNotAvailableException("x"), down, "LEADER_NOT_AVAILABLE"),
                Arguments.of(new NotLeaderOrFollowerException("x"), down, "NOT_LEADER_OR_FOLLOWER"),
                Arguments.of(new TopicAuthorizationException("x"), down, "TOPIC_AUTHORIZATION"),
                Arguments.of(new ClusterAuthorizationException("x"), down, "CLUSTER_AUTHORIZATION"),
                Arguments.of(new SaslAuthenticationException("x"), down, "AUTHENTICATION"),
                Arguments.of(new SslAuthenticationException("x"), down, "AUTHENTICATION"),
                Arguments.of(new KafkaStorageException("x"), down, "BROKER_STORAGE"),
                Arguments.of(new ThrottlingQuotaExceededException(70, "x"), down, "THROTTLED"),
                Arguments.of(new InvalidTimestampException("x"), down, "INVALID_TIMESTAMP"),
                Arguments.of(
                        new InvalidRecordException("Timestamp 3 of message with offset 5 is out of range. The timestamp"
                                + " should be within [1, 2]"),
                        down,
                        "INVALID_TIMESTAMP"),
                Arguments.of(new UnsupportedVersionException("x"), down, "UNSUPPORTED_VERSION"),
                Arguments.of(new ProducerFencedException("x"), down, "PRODUCER_FENCED"),
                Arguments.of(new InvalidProducerEpochException("x"), down, "INVALID_PRODUCER_EPOCH"),
                Arguments.of(new OutOfOrderSequenceException("x"), down, "OUT_OF_ORDER_SEQUENCE"),
                Arguments.of(new UnknownProducerIdException("x"), down, "UNKNOWN_PRODUCER_ID"),
                Arguments.of(new CorruptRecordException("x"), attempt, "CORRUPT_RECORD"),
                Arguments.of(new PolicyViolationException("x"), attempt, "POLICY_VIOLATION"),
                Arguments.of(new UnknownServerException("x"), attempt, "UNKNOWN_SERVER"),
                Arguments.of(new KafkaException("x"), attempt, "UNEXPECTED"),
                Arguments.of(new IllegalStateException("x"), attempt, "UNEXPECTED"));
    }

    @Test
    void a_broker_that_throttles_says_for_how_long() {
        PublishException failure = FAILURES.of(new ThrottlingQuotaExceededException(70, "slow down"), "orders");

        assertThat(((DestinationDownException) failure).retryAfter()).contains(Duration.ofMillis(70));
    }

    @Test
    void a_timeout_that_knows_what_it_waited_for_is_judged_by_that() {
        TimeoutException timeout = new TimeoutException("waited", new TopicAuthorizationException("not you"));

        assertThat(FAILURES.of(timeout, "orders").code()).isEqualTo("TOPIC_AUTHORIZATION");
    }

    @Test
    void a_failure_that_was_judged_already_stays_as_it_is() {
        PublishException judged = new PermanentFailureException("MINE", "mine");

        assertThat(FAILURES.of(new CompletionException(judged), "orders")).isSameAs(judged);
    }

    @Test
    void a_long_text_is_cut_and_stays_on_one_line() {
        PublishException failure = FAILURES.of(new NetworkException("a\nb\u0007" + "c".repeat(5000)), "orders");

        assertThat(failure.getMessage()).hasSizeLessThan(400).contains("a b c").endsWith("…");
    }

    @Test
    void only_some_failures_end_the_producer() {
        assertThat(Stream.of(
                        new ProducerFencedException("x"),
                        new UnknownProducerIdException("x"),
                        new KafkaException("wrapped", new OutOfOrderSequenceException("x")),
                        new ClusterAuthorizationException("x"),
                        new SaslAuthenticationException("x")))
                .allMatch(KafkaFailures::endsProducer);
        assertThat(Stream.of(
                        new TimeoutException("x"),
                        new RecordTooLargeException("x"),
                        new NetworkException("x"),
                        new TopicAuthorizationException("x")))
                .noneMatch(KafkaFailures::endsProducer);
    }
}
