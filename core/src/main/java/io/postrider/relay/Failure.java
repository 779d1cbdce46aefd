// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.internal.Discretion;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Why a delivery failed, and whose fault it is.
 *
 * @param message one line without payload or credentials
 * @param retryAfter what a destination that is down asked for, or the one who failed
 */
record Failure(Fault fault, String code, String message, Optional<Duration> retryAfter) {
    private static final int MAX_MESSAGE = 1000;

    enum Fault {
        /** This event will never be accepted. */
        EVENT_PERMANENT,
        /** This attempt failed; another may succeed. */
        EVENT_RETRYABLE,
        /** This attempt may have had its effect; it must not be repeated blindly. */
        EVENT_UNKNOWN,
        /** The destination takes nothing now. */
        DESTINATION,
        /** It was not sent, because of what befell another event. */
        NOBODY
    }

    static Failure of(Throwable thrown) {
        Throwable cause = unwrapped(thrown);
        if (cause instanceof PublishException known) {
            return new Failure(
                    fault(known),
                    line(String.valueOf(known.code())),
                    line(String.valueOf(known.getMessage())),
                    retryAfter(known));
        }
        String name = name(cause.getClass());
        String message = cause.getMessage() == null ? name : name + ": " + cause.getMessage();
        return new Failure(Fault.EVENT_RETRYABLE, name, line(message), Optional.empty());
    }

    static Failure noAnswer(Duration waited) {
        return new Failure(
                Fault.DESTINATION,
                "NO_ANSWER",
                "The publisher gave no answer within " + waited.toMillis() + " ms",
                Optional.empty());
    }

    private static Optional<Duration> retryAfter(PublishException known) {
        if (known instanceof RetryableFailureException failed) {
            return failed.retryAfter();
        }
        return known instanceof DestinationDownException down ? down.retryAfter() : Optional.empty();
    }

    private static Fault fault(PublishException known) {
        if (known instanceof PermanentFailureException) {
            return Fault.EVENT_PERMANENT;
        }
        if (known instanceof NotSentException) {
            return Fault.NOBODY;
        }
        if (known instanceof UnknownOutcomeException) {
            return Fault.EVENT_UNKNOWN;
        }
        return known instanceof DestinationDownException ? Fault.DESTINATION : Fault.EVENT_RETRYABLE;
    }

    /** An anonymous class has no name of its own. */
    private static String name(Class<?> type) {
        return type.isAnonymousClass() ? name(type.getSuperclass()) : type.getSimpleName();
    }

    private static Throwable unwrapped(Throwable thrown) {
        Throwable cause = thrown;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String line(String message) {
        String line = Discretion.withoutCredentials(message)
                .replaceAll("[\\p{Cc}\\u2028\\u2029]+", " ")
                .strip();
        if (line.length() <= MAX_MESSAGE) {
            return line;
        }
        int end = MAX_MESSAGE - 1;
        return line.substring(0, Character.isHighSurrogate(line.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
