// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A consumer in a process of its own, which says how far it is, and stands still where it shall be killed. */
final class InboxChild {
    private final String last;

    private InboxChild(String last) {
        this.last = last;
    }

    /**
     * Takes the database, its user, the event, and the moment at which to stand still: noted, worked, committed (the database
     * has, and the inbox does not know it yet) or never.
     */
    public static void main(String[] args) throws Exception {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(args[0]);
        source.setUser(args[1]);
        new InboxChild(args[3]).process(source, UUID.fromString(args[2]));
    }

    private void process(DataSource source, UUID event) throws InterruptedException {
        boolean ran = JdbcInbox.of(watched(source)).transact("billing", event, tx -> {
            reached("noted");
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("INSERT INTO invoice VALUES ('" + event + "')");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            reached("worked");
        });
        System.out.println("ended, ran: " + ran);
    }

    private DataSource watched(DataSource source) {
        return proxy(DataSource.class, source);
    }

    private <T> T proxy(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                InboxChild.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
                    try {
                        Object result = method.invoke(target, args);
                        if (method.getName().equals("commit")) {
                            reached("committed");
                        }
                        return result instanceof Connection connection ? proxy(Connection.class, connection) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    private void reached(String moment) throws InterruptedException {
        System.out.println(moment);
        if (moment.equals(last)) {
            Thread.currentThread().join();
        }
    }
}
