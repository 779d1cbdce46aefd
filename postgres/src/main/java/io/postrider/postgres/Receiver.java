// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import io.postrider.relay.Bell;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Rings the bell when another process says that it has committed, and subscribes again when its session is lost. */
final class Receiver extends Thread {
    private static final Logger log = LoggerFactory.getLogger(CommitSignal.class);
    private static final int WAIT_MILLIS = 500;
    private static final int WAITS_BEFORE_A_SIGN_OF_LIFE = 20;
    private static final int PATIENCE_MILLIS = 5_000;
    private static final long AFTER_FAILURE = Duration.ofSeconds(1).toNanos();

    private final DataSource dataSource;
    private final String channel;
    private final Bell bell;
    private final IntSupplier own;
    private volatile boolean ending;
    private boolean failing;

    /** @param own the server process of this process's own notifications, which are not heard */
    Receiver(DataSource dataSource, String channel, Bell bell, IntSupplier own) {
        super("postrider-listen");
        setDaemon(true);
        this.dataSource = dataSource;
        this.channel = channel;
        this.bell = bell;
        this.own = own;
    }

    void end() {
        ending = true;
        LockSupport.unpark(this);
        Threads.awaitEnd(this);
    }

    @Override
    public void run() {
        while (!ending) {
            try (Connection connection = dataSource.getConnection()) {
                listen(connection);
            } catch (SQLException e) {
                complain(e);
            }
        }
    }

    private void listen(Connection connection) throws SQLException {
        connection.setAutoCommit(true);
        connection.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
        PGConnection session = connection.unwrap(PGConnection.class);
        // Checked when the names were given: it consists of letters, digits and _.
        execute(connection, "LISTEN " + channel);
        if (failing) {
            log.info("Commits of other processes are heard again");
            failing = false;
        }
        checkThatItTakesWrites(connection);
        // What was said before this session listened.
        bell.ring();
        int silent = 0;
        while (!ending) {
            PGNotification[] heard = session.getNotifications(WAIT_MILLIS);
            if (isNews(heard)) {
                bell.ring();
            }
            silent = heard == null || heard.length == 0 ? silent + 1 : 0;
            if (silent == WAITS_BEFORE_A_SIGN_OF_LIFE) {
                silent = 0;
                checkThatItTakesWrites(connection);
            }
        }
        execute(connection, "UNLISTEN *");
    }

    private boolean isNews(PGNotification @Nullable [] heard) {
        int mine = own.getAsInt();
        return heard != null && Arrays.stream(heard).anyMatch(each -> each.getPID() != mine);
    }

    private void complain(SQLException e) {
        if (!failing && !ending) {
            failing = true;
            log.warn(
                    "Commits of other processes are not heard, and found by polling, until this session is back: {}",
                    e.getMessage());
        }
        if (!ending) {
            LockSupport.parkNanos(this, AFTER_FAILURE);
        }
    }

    private static void checkThatItTakesWrites(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT " + Threads.READ_ONLY)) {
            Threads.requireWritable(connection, rows, 1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
