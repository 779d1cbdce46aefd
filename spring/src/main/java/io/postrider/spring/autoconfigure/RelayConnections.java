// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postrider.spring.autoconfigure.PostriderProperties.RelayProperties;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.util.ClassUtils;

/**
 * The connections of the relay: its own, opened as the application's pool opens them, so that neither waits for the
 * other. A DataSource that is no known pool is used as it is.
 */
final class RelayConnections implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RelayConnections.class);
    private static final boolean HIKARI =
            ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", RelayConnections.class.getClassLoader());

    private final DataSource dataSource;
    private final Runnable close;

    private RelayConnections(DataSource dataSource, Runnable close) {
        this.dataSource = dataSource;
        this.close = close;
    }

    static RelayConnections of(DataSource application, RelayProperties relay) {
        // One for each loop, one for the membership, one for housekeeping.
        int needed = relay.loops() + 2;
        if (HIKARI) {
            RelayConnections found = Hikari.connections(application, needed, relay.ownConnections());
            if (found != null) {
                return found;
            }
        }
        if (relay.ownConnections()) {
            log.info(
                    "The relay takes {} connections of the application's {}: it is no HikariDataSource, so none of its"
                            + " own could be derived from it",
                    needed,
                    application.getClass().getSimpleName());
        }
        return new RelayConnections(application, () -> {});
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
        static @Nullable RelayConnections connections(DataSource application, int needed, boolean own) {
            HikariDataSource pool = DataSourceUnwrapper.unwrap(application, HikariConfig.class, HikariDataSource.class);
            if (pool == null) {
                return null;
            }
            if (own) {
                HikariDataSource copy = copy(pool, needed);
                return new RelayConnections(copy, copy::close);
            }
            if (needed >= pool.getMaximumPoolSize()) {
                throw new SetupException(
                        "The pool of the application has " + pool.getMaximumPoolSize() + " connections and the relay"
                                + " keeps " + needed + " of them (loops + 2), so too few are left for the application.",
                        "Set spring.datasource.hikari.maximum-pool-size to " + (needed + 1) + " or more, lower"
                                + " postrider.relay.loops, or leave postrider.relay.own-connections=true.");
            }
            return new RelayConnections(application, () -> {});
        }

        private static HikariDataSource copy(HikariDataSource pool, int size) {
            HikariConfig config = new HikariConfig();
            pool.copyStateTo(config);
            config.setPoolName("postrider-relay");
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
