// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.OutboxEvent;
import io.postrider.handler.EventBus;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.trading.ExchangeClient.Answer;
import io.postrider.trading.Messages.Attempt;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Places orders. Each attempt is a row that goes from NEW to SENT before the exchange is called, and from there to what the
 * exchange said; each step is one transaction with the event that follows from it, and none while the exchange is called. A
 * command that comes again finds the row, so an order is never sent twice: what was SENT and has no answer is UNKNOWN, and the
 * exchange is asked once the order has expired.
 */
final class OrderExecutor {
    private static final Duration ASK_AFTER = ExchangeClient.VALID_FOR.plusMillis(200);

    private final JdbcOutbox outbox;
    private final EventBus bus;
    private final ExchangeClient exchange;

    private OrderExecutor(JdbcOutbox outbox, EventBus bus, ExchangeClient exchange) {
        this.outbox = outbox;
        this.bus = bus;
        this.exchange = exchange;
    }

    static void subscribe(JdbcOutbox outbox, EventBus bus, ExchangeClient exchange) {
        OrderExecutor executor = new OrderExecutor(outbox, bus, exchange);
        bus.subscribe(Messages.TRADE_COMMANDS, "PlaceOrder").as(Attempt::parse).run(executor::place);
        bus.subscribe(Messages.TRADE_COMMANDS, "ReconcileOrder")
                .as(Attempt::parse)
                .run(executor::reconcile);
    }

    private void place(Attempt attempt) throws SQLException, InterruptedException {
        Instant expires = Instant.now().plus(ExchangeClient.VALID_FOR);
        if (!mayBeSent(attempt)) {
            return;
        }
        Answer answer = exchange.place(attempt.clientId(), expires);
        outbox.transact(tx -> {
            if (answer instanceof Answer.Acked) {
                accept(tx, attempt);
            } else if (answer instanceof Answer.Rejected rejected) {
                if (end(tx, attempt, "REJECTED", rejected.reason())) {
                    close(tx, attempt, "REJECTED", rejected.reason());
                }
            } else if (answer instanceof Answer.Throttled throttled) {
                if (end(tx, attempt, "THROTTLED", "")) {
                    bus.in(tx).publish(attempt.next().place(throttled.retryAfter()));
                }
            } else if (answer instanceof Answer.Expired) {
                if (end(tx, attempt, "REJECTED", "EXPIRED")) {
                    bus.in(tx).publish(attempt.next().place(Duration.ZERO));
                }
            } else {
                doubt(tx, attempt);
            }
        });
    }

    /** Notes that it is being sent; false: it was before, or nothing may be sent. */
    private boolean mayBeSent(Attempt attempt) throws SQLException {
        AtomicBoolean send = new AtomicBoolean();
        outbox.transact(tx -> {
            Connection connection = tx.connection();
            Database.update(
                    connection,
                    "INSERT INTO order_attempt (order_id, attempt_no, client_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    attempt.orderId(),
                    attempt.number(),
                    attempt.clientId());
            String state = Database.text(
                            connection,
                            "SELECT state FROM order_attempt WHERE client_id = ? FOR UPDATE",
                            attempt.clientId())
                    .orElseThrow();
            if (state.equals("SENT")) {
                // By a process that is gone, or by one that stood still: nobody here knows what came of it.
                doubt(tx, attempt);
            } else if (state.equals("NEW") && isHalted(connection)) {
                Database.update(
                        connection,
                        "UPDATE order_attempt SET state = 'REJECTED', reason = 'HALTED' WHERE client_id = ?",
                        attempt.clientId());
                close(tx, attempt, "HALTED", "the kill switch is on");
            } else if (state.equals("NEW")) {
                Database.update(
                        connection, "UPDATE order_attempt SET state = 'SENT' WHERE client_id = ?", attempt.clientId());
                send.set(true);
            }
        });
        return send.get();
    }

    private static boolean isHalted(Connection connection) throws SQLException {
        return Database.text(connection, "SELECT halted FROM kill_switch")
                .orElse("f")
                .equals("t");
    }

    private void reconcile(Attempt attempt) throws SQLException, IOException, InterruptedException {
        boolean booked = exchange.has(attempt.clientId());
        outbox.transact(tx -> {
            if (booked) {
                accept(tx, attempt);
            } else if (end(tx, attempt, "REJECTED", "NEVER_ARRIVED")) {
                bus.in(tx).publish(attempt.next().place(Duration.ZERO));
            }
        });
    }

    private void accept(JdbcOutbox.Tx tx, Attempt attempt) throws SQLException {
        if (end(tx, attempt, "ACKED", "")) {
            close(tx, attempt, "ACCEPTED", "");
        }
    }

    private void doubt(JdbcOutbox.Tx tx, Attempt attempt) throws SQLException {
        int doubted = Database.update(
                tx.connection(),
                "UPDATE order_attempt SET state = 'UNKNOWN', was_unknown = true WHERE client_id = ? AND state = 'SENT'",
                attempt.clientId());
        if (doubted == 1) {
            bus.in(tx).publish(attempt.reconcile(ASK_AFTER));
        }
    }

    /** Returns whether this ended it; false: it had ended before. */
    private static boolean end(JdbcOutbox.Tx tx, Attempt attempt, String state, String reason) throws SQLException {
        return Database.update(
                        tx.connection(),
                        "UPDATE order_attempt SET state = ?, reason = ? WHERE client_id = ? AND state IN ('SENT', 'UNKNOWN')",
                        state,
                        reason,
                        attempt.clientId())
                == 1;
    }

    private void close(JdbcOutbox.Tx tx, Attempt attempt, String state, String reason) throws SQLException {
        int closed = Database.update(
                tx.connection(),
                "UPDATE trade_order SET state = ? WHERE id = ? AND state = 'OPEN'",
                state,
                attempt.orderId());
        if (closed == 1) {
            OutboxEvent event = Messages.orderEvent("Order" + word(state), attempt.orderId(), reason);
            bus.in(tx).publish(event);
        }
    }

    private static String word(String state) {
        return state.charAt(0) + state.substring(1).toLowerCase(Locale.ROOT);
    }
}
