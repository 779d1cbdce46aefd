// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.postrider.cli.config.DatabaseConfig;
import io.postrider.cli.config.RelayConfig;
import io.postrider.internal.Discretion;
import io.postrider.ops.AlertChannel;
import io.postrider.ops.AlertKind;
import io.postrider.ops.Alerts;
import io.postrider.ops.Condition;
import io.postrider.ops.DailyAt;
import io.postrider.ops.Housekeeper;
import io.postrider.ops.Retention;
import io.postrider.postgres.CommitSignal;
import io.postrider.relay.Bell;
import io.postrider.relay.Relay;
import io.postrider.table.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that runs for one database. What cannot be started, because the database is down or its tables are missing, is
 * tried again until it can; meanwhile it is not ready. Thread-safe.
 */
final class ServedDatabase implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ServedDatabase.class);
    private static final Duration LOOK_EVERY = Duration.ofSeconds(2);
    private static final int ANSWER_SECONDS = 2;

    private final String name;
    private final String host;
    private final DatabaseConfig config;
    private final Meters.Of meters;
    private final HikariDataSource pool;
    private final Housekeeper housekeeper;
    private final Bell bell = new Bell();
    private final List<Relay> relays = new CopyOnWriteArrayList<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private volatile String trouble = "it has not been started yet";
    private boolean tables;
    private boolean started;
    private @Nullable CommitSignal signal;

    ServedDatabase(String name, String host, DatabaseConfig config, Meters meters) {
        this.name = name;
        this.host = host;
        this.config = config;
        pool = Pool.of(name, config, meters.registry());
        this.meters = meters.database(name, pool, config);
        housekeeper = housekeeper();
        thread = new Thread(this::run, "postrider-serve-" + name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    DataSource dataSource() {
        return pool;
    }

    DatabaseConfig config() {
        return config;
    }

    List<Relay> relays() {
        return List.copyOf(relays);
    }

    /** Why it cannot be used, without anything that not everybody may know; empty if it can. */
    Optional<String> trouble() {
        return Optional.of(trouble).filter(each -> !each.isEmpty());
    }

    private void run() {
        try {
            do {
                look();
            } while (!closing.await(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            log.debug("Database {} is left alone, since the server stops", name);
        }
    }

    private synchronized void look() {
        String before = trouble;
        try {
            reach();
            if (!started) {
                begin();
            }
            trouble = "";
            if (!before.isEmpty()) {
                log.info("Database {} is served: {}, {} relays", name, config.address(), relays.size());
            }
        } catch (SQLException e) {
            failed(before, "it cannot be reached", e);
        } catch (RuntimeException e) {
            failed(before, tables ? "a relay cannot be started" : "its tables are missing or of another version", e);
        }
    }

    private void failed(String before, String what, Exception e) {
        trouble = what;
        // Once, however often it is tried.
        if (!before.equals(what) && closing.getCount() > 0) {
            String why = e instanceof SQLException sql ? Discretion.firstLine(sql) : String.valueOf(e.getMessage());
            log.warn(
                    "Database {} is not served, and tried again every {} s: {}: {}",
                    name,
                    LOOK_EVERY.toSeconds(),
                    what,
                    Discretion.withoutCredentials(why));
        }
    }

    private void reach() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            if (!connection.isValid(ANSWER_SECONDS)) {
                throw new SQLException("It does not answer within " + ANSWER_SECONDS + " s");
            }
        }
    }

    private void begin() {
        if (!tables) {
            Schema.of(pool, config.tables()).apply(config.schemaMode());
            tables = true;
        }
        RunningRelay.Shared shared = new RunningRelay.Shared(pool, housekeeper, bell, meters.relays());
        // Those that were started before another failed go on.
        for (RelayConfig each :
                config.relays().subList(relays.size(), config.relays().size())) {
            relays.add(RunningRelay.start(host + "-" + name + "-" + each.group(), config, each, shared));
        }
        if (config.relays().isEmpty()) {
            housekeeper.start();
        } else if (config.notified()) {
            signal = CommitSignal.of(pool, bell)
                    .tables(config.tables())
                    .onlyReceives()
                    .start();
        }
        meters.gauges().start();
        started = true;
    }

    private Housekeeper housekeeper() {
        DatabaseConfig.History history = config.history();
        Retention retention = new Retention(pool, config.tables(), history.keep()).keepAudit(history.keepAudit());
        Housekeeper.Builder builder = Housekeeper.builder(pool)
                .tables(config.tables())
                .dailyAt(new DailyAt(history.dailyAt(), history.zone()))
                .retention(
                        switch (history.mode()) {
                            case DROP -> retention;
                            case DELETE -> retention.deleting();
                            case ARCHIVE -> retention.archiving();
                        });
        if (!config.alerts().channels().isEmpty()) {
            builder.alerts(alerts());
        }
        return builder.build();
    }

    private Alerts alerts() {
        return Alerts.builder(pool)
                .tables(config.tables())
                .tell(config.alerts().channels().toArray(AlertChannel[]::new))
                .watch(config.alerts().conditions().toArray(Condition[]::new))
                .ignore(config.alerts().ignored().toArray(AlertKind[]::new))
                .newsEvery(config.alerts().newsEvery())
                .remindEvery(config.alerts().remindEvery())
                .build();
    }

    /** Takes nothing more, finishes what is under way, all relays at the same time, and closes its connections. */
    @Override
    public void close() {
        closing.countDown();
        thread.interrupt();
        synchronized (this) {
            trouble = "it is being stopped";
            Together.run("postrider-stop-" + name, relays, Relay::close);
            if (signal != null) {
                signal.close();
            }
            meters.gauges().close();
            housekeeper.close();
            pool.close();
        }
    }
}
