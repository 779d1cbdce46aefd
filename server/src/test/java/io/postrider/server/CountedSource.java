// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Counts the connections that are asked for; each look asks for one per statement. May be switched off. */
final class CountedSource implements DataSource {
    private final DataSource real;
    private final AtomicInteger count;
    volatile @Nullable Exception down;

    CountedSource(DataSource real, AtomicInteger count) {
        this.real = real;
        this.count = count;
    }

    @Override
    public Connection getConnection() throws SQLException {
        count.incrementAndGet();
        Exception why = down;
        if (why instanceof SQLException expected) {
            throw expected;
        }
        if (why instanceof RuntimeException unexpected) {
            throw unexpected;
        }
        return real.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return real.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        real.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        real.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return real.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return real.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return real.isWrapperFor(type);
    }
}
