// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends a notification soon after it is asked to, one for all who asked meanwhile. */
final class Sender extends Thread {
    private static final Logger log = LoggerFactory.getLogger(CommitSignal.class);
    /** Its commit waits for no disk: it is a hint, and nothing is lost with it. */
    private static final String NOTIFY =
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ''), " + Threads.READ_ONLY;

    private static final long APART = Duration.ofMillis(2).toNanos();
    private static final long IDLE = Duration.ofMinutes(1).toNanos();
    private static final long AFTER_FAILURE = Duration.ofSeconds(1).toNanos();
    private static final int PATIENCE_MILLIS = 5_000;

    private final DataSource dataSource;
    private final String channel;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile boolean ending;
    private volatile int backend;
    private @Nullable Connection connection;
    private boolean failing;

    Sender(DataSource dataSource, String channel) {
        super("postrider-notify");
        setDaemon(true);
        this.dataSource = dataSource;
        this.channel = channel;
    }

    void send() {
        if (!asked.getAndSet(true)) {
            LockSupport.unpark(this);
        }
    }

    /** The server process that its notifications come from; 0 while there is none. */
    int backend() {
        return backend;
    }

    void end() {
        ending = true;
        LockSupport.unpark(this);
        Threads.awaitEnd(this);
    }

    @Override
    public void run() {
        boolean last;
        do {
            last = ending;
            if (!asked.getAndSet(false)) {
                park(IDLE);
            } else if (tryToSend()) {
                pause(APART);
            } else {
                asked.set(true);
                pause(AFTER_FAILURE);
            }
        } while (!last);
        drop();
    }

    private void park(long nanos) {
        if (!ending && !asked.get()) {
            LockSupport.parkNanos(this, nanos);
        }
    }

    /** To its end: whoever asks meanwhile must not make it send more often. */
    private void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !ending; left = until - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }

    private boolean tryToSend() {
        try (PreparedStatement statement = open().prepareStatement(NOTIFY)) {
            statement.setString(1, channel);
            try (ResultSet rows = statement.executeQuery()) {
                Threads.requireWritable(connection, rows, 3);
            }
            failing = false;
            return true;
        } catch (SQLException e) {
            if (!failing) {
                failing = true;
                log.warn(
                        "Commits cannot be signalled to other processes; they find them by polling: {}",
                        e.getMessage());
            }
            drop();
            return false;
        }
    }

    private Connection open() throws SQLException {
        Connection open = connection;
        if (open == null) {
            open = dataSource.getConnection();
            connection = open;
            open.setAutoCommit(true);
            open.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
            backend = open.unwrap(PGConnection.class).getBackendPID();
        }
        return open;
    }

    private void drop() {
        Threads.close(connection);
        connection = null;
        backend = 0;
    }
}
