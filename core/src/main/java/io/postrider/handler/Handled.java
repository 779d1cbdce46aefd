// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** What a handler made of an event. Codes and messages are stored and shown: neither may contain payload or secrets. */
public sealed interface Handled {

    /** Done. */
    record Done() implements Handled {}

    /** Done, and the event is removed from its table already, in the same transaction. */
    record Settled() implements Handled {}

    /** Not this time: counted, and tried again by the relay's policy or after the given delay. */
    record Retry(String code, String message, Optional<Duration> after) implements Handled {
        public Retry {
            Objects.requireNonNull(code, "code");
            Objects.requireNonNull(message, "message");
        }
    }

    /** Never: dead at once. */
    record Failed(String code, String message) implements Handled {
        public Failed {
            Objects.requireNonNull(code, "code");
            Objects.requireNonNull(message, "message");
        }
    }

    /** It may or may not have had its effect: not repeated until somebody has found out. */
    record Unknown(String code, String message) implements Handled {
        public Unknown {
            Objects.requireNonNull(code, "code");
            Objects.requireNonNull(message, "message");
        }
    }

    static Handled done() {
        return new Done();
    }

    static Handled retry(String code, String message) {
        return new Retry(code, message, Optional.empty());
    }

    /** The delay replaces that of the relay's policy for this attempt, which is counted as any other. */
    static Handled retryAfter(Duration delay, String code, String message) {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("A retry after " + delay + " is in the past. Give zero or more.");
        }
        return new Retry(code, message, Optional.of(delay));
    }

    static Handled failed(String code, String message) {
        return new Failed(code, message);
    }

    static Handled unknown(String code, String message) {
        return new Unknown(code, message);
    }
}
