// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.postgresql.ds.PGSimpleDataSource;

/** A consumer in a process of its own, which says how far it is, and stands still where it shall be killed. */
final class InboxChild {
    private InboxChild() {}

    /** Takes the database, its user, the event, and the moment at which to stand still: noted, worked, committed or never. */
    public static void main(String[] args) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(args[0]);
        source.setUser(args[1]);
        boolean ran = JdbcInbox.of(source).transact("billing", UUID.fromString(args[2]), tx -> {
            reached("noted", args[3]);
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("INSERT INTO invoice VALUES ('" + args[2] + "')");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            reached("worked", args[3]);
        });
        reached("committed", args[3]);
        System.out.println("ended, ran: " + ran);
    }

    private static void reached(String moment, String last) throws InterruptedException {
        System.out.println(moment);
        if (moment.equals(last)) {
            Thread.currentThread().join();
        }
    }
}
