// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.Envelope;
import io.postrider.handler.EventBus;
import io.postrider.jdbc.JdbcOutbox;
import java.sql.SQLException;
import java.util.List;

/** Tells people what happened, each event once: the log of what was said has the event's id as its key. */
final class Notifications {
    private final JdbcOutbox outbox;

    private Notifications(JdbcOutbox outbox) {
        this.outbox = outbox;
    }

    static void subscribe(JdbcOutbox outbox, EventBus bus) {
        Notifications notifications = new Notifications(outbox);
        for (String type : List.of("OrderAccepted", "OrderRejected", "OrderHalted")) {
            bus.subscribe(Messages.TRADE_EVENTS, type)
                    .as(Envelope::parse)
                    .run(event -> notifications.log(event, Messages.field(event, "orderId")));
        }
        bus.subscribe(Messages.BACKTEST_EVENTS, "BacktestFinished")
                .as(Envelope::parse)
                .run(event -> notifications.log(event, Messages.field(event, "backtestId")));
    }

    private void log(Envelope event, String about) throws SQLException {
        outbox.transact(tx -> Database.update(
                tx.connection(),
                "INSERT INTO notification_log VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                event.eventId(),
                about,
                event.type()));
    }
}
