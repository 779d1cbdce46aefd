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
 * The connections of the relay, and those of the workers: their own, opened as the application's pool opens them, so that
 * neither waits for the application nor it for them. A DataSource that is not Hikari's is used as it is, if it is large
 * enough.
 */
final class RelayConnections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RelayConnections.class);
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", RelayConnections.class.getClassLoader());

    private static final boolean SIGNALS =
            ClassUtils.isPresent("io.postrider.postgres.CommitSignal", RelayConnections.class.getClassLoader());

    /** The loop of a worker, its membership, and housekeeping. */
    private static final int OF_A_WORKER = 3;

    private final DataSource dataSource;
    private final Runnable close;

    private RelayConnections(DataSource dataSource, Runnable close) {
        this.dataSource = dataSource;
        this.close = close;
    }

    static RelayConnections of(Storage storage, RelayProperties relay) {
        int needed = ofRelay(relay);
        if (relay.ownConnections() && HIKARI) {
            RelayConnections own = Hikari.copied(storage.dataSource(), needed + relay.loops(), "postrider-relay");
            if (own != null) {
                return own;
            }
        }
        int shared = needed + ofSignals(relay);
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

    /**
     * One for each loop, one for the membership, one for housekeeping, one for what was just committed. In a backlog each loop takes a
     * second one if there is one.
     */
    private static int ofRelay(RelayProperties relay) {
        return relay.loops() + 2 + (relay.publishOnCommit() ? 1 : 0);
    }

    private static int ofSignals(RelayProperties relay) {
        return SIGNALS && relay.signals() ? 2 : 0;
    }

    /** All workers have them together. */
    static RelayConnections forWorkers(Storage storage, PostriderProperties properties) {
        RelayProperties relay = properties.relay();
        int needed = OF_A_WORKER * properties.workers().size();
        RelayConnections own = relay.ownConnections() && HIKARI
                ? Hikari.copied(storage.dataSource(), needed, "postrider-workers")
                : null;
        if (own != null) {
            return own;
        }
        int rest = (relay.enabled() ? ofRelay(relay) : 0) + ofSignals(relay);
        storage.poolSize().ifPresent(size -> {
            if (needed + rest >= size) {
                throw new SetupException(
                        "The pool of the application has " + size + " connections and relay and workers keep "
                                + (needed + rest) + " of them (" + OF_A_WORKER + " for each worker, " + rest
                                + " for the rest), so too few are left for the application.",
                        "Let the pool have " + (needed + rest + 1) + " connections or more (with Hikari"
                                + " spring.datasource.hikari.maximum-pool-size), have fewer workers, or, with Hikari,"
                                + " leave postrider.relay.own-connections=true.");
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
                log.debug("The application's connections are shared: what its DataSource wraps is not told", e);
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
            // They are kept, which is no leak.
            config.setLeakDetectionThreshold(0);
            config.setRegisterMbeans(false);
            // It would open a connection only to close it; the application's pool has just shown that there are some.
            config.setInitializationFailTimeout(-1);
            return new HikariDataSource(config);
        }
    }
}
