// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.JdbcInbox;
import java.sql.Connection;

/** An event in the inbox. */
final class Once implements Extra {
    private final JdbcInbox inbox;

    Once(Rig rig) {
        inbox = JdbcInbox.of(rig.dataSource());
    }

    @Override
    public String name() {
        return "once";
    }

    @Override
    public void in(Connection connection, int number) {
        inbox.on(connection).once("billing", InboxScenario.eventId(), () -> {});
    }
}
