// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.Envelope;
import io.postrider.OutboxEvent;
import java.time.Duration;

/** The streams, and what is said in them. */
final class Messages {
    static final String TRADE_COMMANDS = "trade-commands";
    static final String TRADE_EVENTS = "trade-events";
    static final String BACKTEST_COMMANDS = "backtest-commands";
    static final String BACKTEST_EVENTS = "backtest-events";
    static final String SYSTEM_EVENTS = "system-events";

    private Messages() {}

    /** One attempt to place an order. */
    record Attempt(String orderId, int number) {
        static Attempt parse(byte[] payload) {
            Envelope envelope = Envelope.parse(payload);
            return new Attempt(field(envelope, "orderId"), Integer.parseInt(field(envelope, "attempt")));
        }

        /** The name under which the exchange knows it. */
        String clientId() {
            return orderId + "-" + number;
        }

        Attempt next() {
            return new Attempt(orderId, number + 1);
        }

        private OutboxEvent command(String type, Duration delay) {
            return Envelope.of(type, "{}")
                    .field("orderId", orderId)
                    .field("attempt", Integer.toString(number))
                    .in(TRADE_COMMANDS)
                    .aggregate("Order", orderId)
                    .delay(delay)
                    .build();
        }

        OutboxEvent place(Duration delay) {
            return command("PlaceOrder", delay);
        }

        OutboxEvent reconcile(Duration delay) {
            return command("ReconcileOrder", delay);
        }
    }

    static OutboxEvent orderEvent(String type, String orderId, String reason) {
        return Envelope.of(type, "{}")
                .field("orderId", orderId)
                .field("reason", reason)
                .in(TRADE_EVENTS)
                .aggregate("Order", orderId)
                .build();
    }

    static OutboxEvent backtest(String stream, String type, String backtestId) {
        return Envelope.of(type, "{}")
                .field("backtestId", backtestId)
                .in(stream)
                .aggregate("Backtest", backtestId)
                .build();
    }

    static OutboxEvent killSwitch(boolean halted) {
        return Envelope.of("KillSwitch", "{}")
                .field("halted", Boolean.toString(halted))
                .in(SYSTEM_EVENTS)
                .key("kill-switch")
                .build();
    }

    static String field(Envelope envelope, String name) {
        String value = envelope.fields().get(name);
        if (value == null) {
            throw new IllegalArgumentException("The envelope has no field " + name);
        }
        return value;
    }
}
