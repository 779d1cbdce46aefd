// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.JdbcOutbox;
import java.sql.Connection;

/** An event in the outbox. */
final class Append implements Extra {
    private final JdbcOutbox outbox;

    Append(Rig rig) {
        outbox = JdbcOutbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return "append";
    }

    @Override
    public void in(Connection connection, int number) {
        outbox.on(connection).append(AppendRound.event(number));
    }
}
