// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.postrider.cli.config.DatabaseConfig;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/** Makes the connections of one database: as few as are in use, and none before they are needed. */
final class Pool {
    private static final int CONNECT_SECONDS = 10;
    private static final int ANSWER_SECONDS = 300;
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration IDLE = Duration.ofMinutes(1);

    private Pool() {}

    /** A database that is down is no error here. */
    static HikariDataSource of(String name, DatabaseConfig config, MeterRegistry registry) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        // What the address says goes before these.
        source.setConnectTimeout(CONNECT_SECONDS);
        source.setSocketTimeout(ANSWER_SECONDS);
        source.setTcpKeepAlive(true);
        source.setApplicationName("postrider-server");
        source.setUrl(config.address().url());
        config.address().user().ifPresent(source::setUser);
        config.address().password().ifPresent(source::setPassword);
        HikariConfig pool = new HikariConfig();
        pool.setPoolName("postrider-" + name);
        pool.setDataSource(source);
        pool.setMaximumPoolSize(config.poolSize() > 0 ? config.poolSize() : config.connections());
        pool.setMinimumIdle(0);
        pool.setIdleTimeout(IDLE.toMillis());
        pool.setConnectionTimeout(PATIENCE.toMillis());
        pool.setInitializationFailTimeout(-1);
        pool.setMetricRegistry(registry);
        return new HikariDataSource(pool);
    }
}
