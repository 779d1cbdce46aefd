// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Decides what becomes of an event whose delivery failed. Knows neither tables nor destinations nor time.
 *
 * <table>
 * <caption>Whose fault is it?</caption>
 * <tr><th>fault</th><th>gate open</th><th>gate closed</th></tr>
 * <tr><td>destination, or nobody</td><td>released</td><td>released</td></tr>
 * <tr><td>event, permanent</td><td>dead</td><td>released: judged when the destination answers others again</td></tr>
 * <tr><td>event, retryable</td><td>retry, or dead after the last attempt</td><td>released</td></tr>
 * <tr><td>event, unknown</td><td>unknown</td><td>unknown: to release it would repeat it</td></tr>
 * </table>
 */
final class Judge {
    private final RetryPolicy policy;
    private final RandomGenerator random;

    Judge(RetryPolicy policy, RandomGenerator random) {
        this.policy = policy;
        this.random = random;
    }

    Outcome judge(Delivery delivery, Failure failure, boolean gateClosed) {
        if (failure.fault() == Failure.Fault.EVENT_UNKNOWN) {
            return new Outcome.Unknown(failure.code(), failure.message());
        }
        if (gateClosed || failure.fault() == Failure.Fault.DESTINATION || failure.fault() == Failure.Fault.NOBODY) {
            return new Outcome.Released();
        }
        if (failure.fault() == Failure.Fault.EVENT_PERMANENT) {
            return new Outcome.Dead(failure.code(), failure.message());
        }
        int failed = delivery.attempts() + 1;
        if (failed >= delivery.event().maxAttempts().orElse(policy.maxAttempts())) {
            return new Outcome.Dead(failure.code(), failure.message());
        }
        Duration delay = failure.retryAfter().orElseGet(() -> policy.delay(failed, random));
        return new Outcome.Retry(delay, failure.code(), failure.message());
    }
}
