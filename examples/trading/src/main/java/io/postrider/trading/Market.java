// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.handler.EventBus;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/** Who gives the orders: writes them with their commands, and knows nothing of who carries them out. */
final class Market {
    private final JdbcOutbox outbox;
    private final EventBus bus = EventBus.ofTransactions();

    private Market(JdbcOutbox outbox) {
        this.outbox = outbox;
    }

    static Market open(DataSource dataSource) throws SQLException {
        Schema.of(dataSource).apply(SchemaMode.MIGRATE);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(Database.resource("trading.sql"));
        }
        return new Market(JdbcOutbox.of(dataSource));
    }

    void order(String id) throws SQLException {
        outbox.transact(tx -> {
            Database.update(tx.connection(), "INSERT INTO trade_order (id, symbol) VALUES (?, 'BTC-EUR')", id);
            bus.in(tx).publish(new Messages.Attempt(id, 1).place(Duration.ZERO));
        });
    }

    /** Commands the first attempt of an order once more, as a careless caller may. */
    void orderAgain(String id) {
        outbox.transact(tx -> bus.in(tx).publish(new Messages.Attempt(id, 1).place(Duration.ZERO)));
    }

    void backtest(String id) {
        outbox.transact(tx -> bus.in(tx).publish(Messages.backtest(Messages.BACKTEST_COMMANDS, "RunBacktest", id)));
    }

    void turnKillSwitch(boolean halted) {
        outbox.transact(tx -> bus.in(tx).publish(Messages.killSwitch(halted)));
    }
}
