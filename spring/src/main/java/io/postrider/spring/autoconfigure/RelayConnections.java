// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postrider.spring.autoconfigure.PostriderProperties.RelayProperties;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections of the relay: its own, opened as the application's pool opens them, so that neither waits for the
 * other. A DataSource that is not Hikari's is used as it is, if it is large enough.
 */
final class RelayConnections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RelayConnections.class);
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", RelayConnections.class.getClassLoader());

    private static final boolean SIGNALS =
            ClassUtils.isPresent("io.postrider.postgres.CommitSignal", RelayConnections.class.getClassLoader());

    private final DataSource dataSource;
    private final Runnable close;

    private RelayConnections(DataSource dataSource, Runnable close) {
        this.dataSource = dataSource;
        this.close = close;
    }

    static RelayConnections of(Storage storage, RelayProperties relay) {
        // One for each loop, one for the membership, one for housekeeping, one for what was just committed.
        int needed = relay.loops() + 2 + (relay.publishOnCommit() ? 1 : 0);
        if (relay.ownConnections() && HIKARI) {
            RelayConnections own = Hikari.copied(storage.dataSource(), needed, "postrider-relay");
            if (own != null) {
                return own;
            }
        }
        int shared = needed + (SIGNALS && relay.signals() ? 2 : 0);
        storage.poolSize().ifPresent(size -> {
            if (shared >= size) {
                throw new SetupException(
                        "The pool of the application has " + size + " connections and the relay keeps " + shared
                                + " of them (loops + " + (shared - relay.loops())
                                + "), so too few are left for the application.",
                        "Let the pool have " + (shared + 1) + " connections or more (with Hikari"
                                + " spring.datasource.hikari.maximum-pool-size), lower postrider.relay.loops, or, with"
                                + " Hikari, leave postrider.relay.own-connections=true.");
            }
        });
        return new RelayConnections(storage.dataSource(), () -> {});
    }

    /** Two more, to tell other processes of commits and to hear of theirs. */
    static RelayConnections forSignals(Storage storage, RelayProperties relay) {
        RelayConnections own =
                relay.ownConnections() && HIKARI ? Hikari.copied(storage.dataSource(), 2, "postrider-signal") : null;
        return own == null ? new RelayConnections(storage.dataSource(), () -> {}) : own;
    }

    DataSource dataSource() {
        return dataSource;
    }

    @Override
    public void close() {
        close.run();
    }

    /** Apart, since it cannot be loaded without Hikari. */
    private static final class Hikari {
        static @Nullable RelayConnections copied(DataSource application, int size, String name) {
            try {
                if (!application.isWrapperFor(HikariDataSource.class)) {
                    return null;
                }
                HikariDataSource copy = copy(application.unwrap(HikariDataSource.class), size, name);
                return new RelayConnections(copy, copy::close);
            } catch (SQLException e) {
                log.debug("The relay shares the application's connections: what it wraps is not told", e);
                return null;
            }
        }

        private static HikariDataSource copy(HikariDataSource pool, int size, String name) {
            HikariConfig config = new HikariConfig();
            pool.copyStateTo(config);
            config.setPoolName(name);
            config.setMaximumPoolSize(size);
            config.setMinimumIdle(0);
            config.setReadOnly(false);
            config.setAutoCommit(true);
            // The relay keeps its connections, which is no leak.
            config.setLeakDetectionThreshold(0);
            config.setRegisterMbeans(false);
            return new HikariDataSource(config);
        }
    }
}
