// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.Envelope;
import io.postrider.handler.EventBus;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.jdbc.JdbcOutbox;
import java.sql.SQLException;

/** Runs backtests, each once by the inbox: its result and the event that tells of it are in the same transaction. */
final class Backtests {
    private final JdbcOutbox outbox;
    private final JdbcInbox inbox;
    private final EventBus bus;

    private Backtests(JdbcOutbox outbox, JdbcInbox inbox, EventBus bus) {
        this.outbox = outbox;
        this.inbox = inbox;
        this.bus = bus;
    }

    static void subscribe(JdbcOutbox outbox, JdbcInbox inbox, EventBus bus) {
        Backtests backtests = new Backtests(outbox, inbox, bus);
        bus.subscribe(Messages.BACKTEST_COMMANDS, "RunBacktest")
                .as(Envelope::parse)
                .run(backtests::run);
    }

    private void run(Envelope command) throws SQLException {
        String id = Messages.field(command, "backtestId");
        outbox.transact(tx -> inbox.on(tx.connection()).once("backtest", command.eventId(), () -> {
            Database.update(
                    tx.connection(),
                    "INSERT INTO backtest_result VALUES (?, ?)",
                    id,
                    Math.floorMod(id.hashCode(), 100));
            bus.in(tx).publish(Messages.backtest(Messages.BACKTEST_EVENTS, "BacktestFinished", id));
        }));
    }
}
