// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;

/** What became of one delivery. */
public sealed interface Outcome {

    /** The destination has it. */
    record Published() implements Outcome {}

    /** Not sent, or not the event's fault: as if it had never been taken. */
    record Released() implements Outcome {}

    /** The event itself failed; this is written to its row. */
    sealed interface Failed extends Outcome {
        String code();

        String message();
    }

    /** Counted, and due again after {@code delay}. */
    record Retry(Duration delay, String code, String message) implements Failed {}

    /** Counted, and not tried again unless a person says so. */
    record Dead(String code, String message) implements Failed {}

    /** Not sent and not counted, since it came to be worthless before; dead, and holds nobody. */
    record Expired() implements Failed {
        public static final String CODE = "EXPIRED";

        @Override
        public String code() {
            return CODE;
        }

        @Override
        public String message() {
            return "Its time to expire was past when its turn came, so it was not sent. If it is still wanted, requeue it:"
                    + " it does not expire then.";
        }
    }

    /** Counted; it may or may not have had its effect, so it is not tried again until somebody has found out. */
    record Unknown(String code, String message) implements Failed {}
}
