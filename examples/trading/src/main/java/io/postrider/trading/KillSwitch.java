// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import io.postrider.Envelope;
import io.postrider.handler.EventBus;
import io.postrider.jdbc.JdbcOutbox;
import java.sql.SQLException;

/** Turns the kill switch as the system's events say; the executor looks at it before it sends anything. */
final class KillSwitch {
    private final JdbcOutbox outbox;

    private KillSwitch(JdbcOutbox outbox) {
        this.outbox = outbox;
    }

    static void subscribe(JdbcOutbox outbox, EventBus bus) {
        KillSwitch killSwitch = new KillSwitch(outbox);
        bus.subscribe(Messages.SYSTEM_EVENTS, "KillSwitch").as(Envelope::parse).run(killSwitch::turn);
    }

    /** To turn it twice to the same side does nothing, and the events of its key come in order. */
    private void turn(Envelope event) throws SQLException {
        boolean halted = Boolean.parseBoolean(Messages.field(event, "halted"));
        outbox.transact(tx -> Database.update(tx.connection(), "UPDATE kill_switch SET halted = ?", halted));
    }
}
