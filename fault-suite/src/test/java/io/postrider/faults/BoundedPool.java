// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

/** A data source that hands out so many connections at a time and no more, as a pool does. Thread-safe. */
final class BoundedPool implements AutoCloseable {
    private final DataSource source;
    private final Semaphore free;
    private final List<Connection> open = new ArrayList<>();

    BoundedPool(DataSource source, int size) {
        this.source = source;
        this.free = new Semaphore(size);
    }

    DataSource dataSource() {
        return (DataSource) Proxy.newProxyInstance(
                DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> {
                    if (method.getName().equals("getConnection")) {
                        return borrow();
                    }
                    return method.invoke(source, arguments);
                });
    }

    /** Takes every connection that is left. */
    List<Connection> takeAll() throws SQLException {
        List<Connection> taken = new ArrayList<>();
        // Others may take one between a look and a try.
        while (free.tryAcquire()) {
            taken.add(lend());
        }
        return taken;
    }

    private Connection borrow() throws SQLException {
        try {
            if (!free.tryAcquire(1, TimeUnit.SECONDS)) {
                throw new SQLTransientConnectionException("No connection is free", "08001");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLException("Interrupted", e);
        }
        return lend();
    }

    private Connection lend() throws SQLException {
        Connection connection = source.getConnection();
        synchronized (open) {
            open.add(connection);
        }
        AtomicBoolean returned = new AtomicBoolean();
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    if (method.getName().equals("close") && !returned.getAndSet(true)) {
                        free.release();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    @Override
    public void close() throws SQLException {
        synchronized (open) {
            for (Connection connection : open) {
                connection.close();
            }
        }
    }
}
