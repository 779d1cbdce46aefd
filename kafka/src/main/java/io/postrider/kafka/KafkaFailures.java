// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.PublishException;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.KafkaStorageException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.ThrottlingQuotaExceededException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedCompressionTypeException;
import org.apache.kafka.common.errors.UnsupportedForMessageFormatException;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Whose fault a failure of Kafka's client is: the event's, this attempt's or the destination's.
 *
 * <p>The failures carry no cause: an exception of a client library may quote a setting, and a logger prints causes.
 * Their text is the library's, without the secrets among the settings. Immutable.
 */
final class KafkaFailures {
    private final Secrets secrets;

    KafkaFailures(Secrets secrets) {
        this.secrets = secrets;
    }

    /** Judges what a send to the topic ended with. */
    PublishException of(Throwable error, String topic) {
        Throwable e = unwrap(error);
        if (e instanceof PublishException judged) {
            return judged;
        }
        String message = "Kafka did not take the record for topic " + topic + ": " + text(e);
        if (isBystander(e)) {
            return new NotSentException("BATCH_REFUSED", message);
        }
        if (isWrongClock(e)) {
            return new DestinationDownException(
                    "INVALID_TIMESTAMP",
                    message + ". The clocks of this machine and of the broker are further apart than the topic allows"
                            + " (message.timestamp.after.max.ms, message.timestamp.before.max.ms); set them right.",
                    null);
        }
        if (isPermanent(e)) {
            return new PermanentFailureException(code(e), message);
        }
        if (e instanceof ThrottlingQuotaExceededException throttled) {
            Duration pause = Duration.ofMillis(Math.max(0, throttled.throttleTimeMs()));
            return new DestinationDownException(code(e), message, null, pause);
        }
        if (isDestination(e)) {
            return new DestinationDownException(code(e), message, null);
        }
        return new RetryableFailureException(code(e), message, null);
    }

    /** Judges that the client had nowhere to put the record for as long as a send may wait for that. */
    DestinationDownException blocked(Throwable error, String topic, Duration waited) {
        if (error instanceof DestinationDownException judged) {
            return judged;
        }
        Throwable e = unwrap(error);
        String what = "Topic " + topic + " could not be written to for " + waited + ": ";
        if (e instanceof UnknownTopicOrPartitionException) {
            return new DestinationDownException(
                    "UNKNOWN_TOPIC",
                    what + "the broker does not know it. Create the topic, or map the stream to another one.",
                    null);
        }
        if (e.getClass() == TimeoutException.class) {
            return new DestinationDownException(
                    "NO_METADATA",
                    what + "no broker said where it is. Check that bootstrap.servers is reachable.",
                    null);
        }
        return new DestinationDownException(code(e), what + text(e), null);
    }

    /** The broker was given the record, and nobody knows whether it kept it. */
    static DestinationDownException noAnswer(String topic, Duration waited) {
        return new DestinationDownException(
                "NO_ANSWER",
                "Kafka did not answer within " + waited + " whether it took the record for topic " + topic
                        + ", so it may arrive twice.",
                null);
    }

    static NotSentException behindAFailure(String topic) {
        return new NotSentException(
                "BEHIND_A_FAILURE",
                "The record for topic " + topic
                        + " was called back, since one before it was refused; it is sent again.");
    }

    static DestinationDownException noProducer(String topic) {
        return new DestinationDownException(
                "NO_PRODUCER",
                "No producer could be opened to send to topic " + topic
                        + ". The log says why; it is tried again every second.",
                null);
    }

    static DestinationDownException closed(String topic) {
        return new DestinationDownException(
                "CLOSED", "The publisher was closed before Kafka answered for topic " + topic + ".", null);
    }

    /** Whether a producer that reports this cannot be trusted with further records. */
    static boolean endsProducer(Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (e instanceof ProducerFencedException
                    || e instanceof InvalidProducerEpochException
                    || e instanceof OutOfOrderSequenceException
                    || e instanceof AuthenticationException
                    || e instanceof ClusterAuthorizationException
                    || e instanceof UnsupportedVersionException) {
                return true;
            }
        }
        return false;
    }

    /** Whether the record shared a batch with one that the broker refused; the client has no class for that. */
    private static boolean isBystander(Throwable e) {
        return e.getClass() == KafkaException.class
                && e.getMessage() != null
                && e.getMessage().contains("part of a batch which had");
    }

    /**
     * Whether the broker refused the time of the record, which is that of this machine. If it refused several of a batch, the
     * client says so in words only.
     */
    private static boolean isWrongClock(Throwable e) {
        return e instanceof InvalidTimestampException
                || (e instanceof InvalidRecordException
                        && e.getMessage() != null
                        && e.getMessage().startsWith("Timestamp ")
                        && e.getMessage().contains(" is out of range"));
    }

    private static boolean isPermanent(Throwable e) {
        return e instanceof RecordTooLargeException
                || e instanceof RecordBatchTooLargeException
                || e instanceof SerializationException
                || e instanceof InvalidTopicException
                || e instanceof InvalidRecordException
                || e instanceof UnsupportedForMessageFormatException;
    }

    private static boolean isDestination(Throwable e) {
        // A record that is corrupt on arrival is sent anew by the client; if it says so to us, only this one is hit.
        return (e instanceof RetriableException && !(e instanceof CorruptRecordException))
                || e instanceof AuthenticationException
                || e instanceof AuthorizationException
                || e instanceof SecurityDisabledException
                || e instanceof UnsupportedVersionException
                || e instanceof UnsupportedCompressionTypeException
                || e instanceof InterruptException
                || endsProducer(e);
    }

    private static String code(Throwable e) {
        if (e instanceof RecordBatchTooLargeException) {
            return "RECORD_TOO_LARGE";
        } else if (e instanceof UnknownTopicOrPartitionException) {
            return "UNKNOWN_TOPIC";
        } else if (e instanceof NotEnoughReplicasException || e instanceof NotEnoughReplicasAfterAppendException) {
            return "NOT_ENOUGH_REPLICAS";
        } else if (e instanceof DisconnectException || e instanceof NetworkException) {
            return "DISCONNECTED";
        } else if (e instanceof AuthenticationException) {
            return "AUTHENTICATION";
        } else if (e instanceof BufferExhaustedException) {
            return "BUFFER_FULL";
        } else if (e instanceof ThrottlingQuotaExceededException) {
            return "THROTTLED";
        } else if (e instanceof KafkaStorageException) {
            return "BROKER_STORAGE";
        } else if (e instanceof InterruptException) {
            return "INTERRUPTED";
        }
        return e instanceof ApiException || e instanceof SerializationException ? named(e) : "UNEXPECTED";
    }

    /** {@code RecordTooLargeException} is {@code RECORD_TOO_LARGE}. */
    private static String named(Throwable e) {
        String name = e.getClass().getSimpleName().replaceFirst("Exception$", "");
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
    }

    /** Wrappers say less than what they wrap; so does a timeout that knows what it was waiting for. */
    private static Throwable unwrap(Throwable error) {
        Throwable e = error;
        while (e.getCause() != null
                && (e instanceof CompletionException
                        || e instanceof ExecutionException
                        || e.getClass() == KafkaException.class
                        || e.getClass() == TimeoutException.class)) {
            e = e.getCause();
        }
        return e;
    }

    /** Only Kafka's own words are repeated: any other exception may quote what it choked on, such as the payload. */
    private String text(Throwable e) {
        String name = e.getClass().getSimpleName();
        if (e instanceof KafkaException) {
            String message = secrets.hide(e.getMessage());
            return message.isEmpty() ? name : name + ": " + message;
        }
        StackTraceElement[] trace = e.getStackTrace();
        return trace.length == 0 ? name : name + " at " + trace[0];
    }
}
