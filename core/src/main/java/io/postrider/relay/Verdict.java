// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/** A delivery that failed, and what shall become of its event. */
public record Verdict(Delivery delivery, Outcome.Failed outcome) {}
