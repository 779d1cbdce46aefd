// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import io.postrider.OutboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes or checks Postrider's tables.
 *
 * <pre>{@code
 * Schema.of(dataSource).apply(SchemaMode.MIGRATE);
 * }</pre>
 *
 * <p>DDL runs only when asked for. The same scripts can be run by Flyway, Liquibase or by hand: {@link #scripts()}.
 * Thread-safe, also between processes: a migration holds an advisory lock.
 */
public final class Schema {
    private static final Logger log = LoggerFactory.getLogger(Schema.class);
    private static final List<String> SCRIPTS = List.of("V1__outbox.sql");

    private final DataSource dataSource;
    private final TableNames tables;

    private Schema(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.tables = tables;
    }

    /** The schema in the first place of the data source's search_path. */
    public static Schema of(DataSource dataSource) {
        return new Schema(dataSource, TableNames.ofDefaults());
    }

    public static Schema of(DataSource dataSource, TableNames tables) {
        return new Schema(dataSource, tables);
    }

    /** One numbered step from an older version to the next. */
    public record Script(int version, String name, String sql) {}

    /** The version that this library needs. */
    public static int latestVersion() {
        return SCRIPTS.size();
    }

    /** All scripts, oldest first. */
    public static List<Script> scripts() {
        return SCRIPTS.stream()
                .map(name -> new Script(SCRIPTS.indexOf(name) + 1, name, read(name)))
                .toList();
    }

    /**
     * Brings the database to the needed version, or checks that it has it.
     *
     * @throws OutboxException in mode {@code VALIDATE} if scripts are missing, with their SQL; in either mode if the
     *     database is newer than this library
     */
    public void apply(SchemaMode mode) {
        switch (mode) {
            case MIGRATE -> migrate();
            case VALIDATE -> validate();
            case NONE -> log.debug("Schema neither migrated nor checked, as configured");
        }
    }

    private void migrate() {
        try (Connection connection = dataSource.getConnection()) {
            // As a rule there is nothing to do, and no right to do it.
            if (metaExists(connection) && refuseNewer(version(connection)) == SCRIPTS.size()) {
                return;
            }
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                // Two processes that start at once migrate one after the other.
                statement.execute("SELECT pg_advisory_xact_lock(hashtextextended('postrider.schema', 0))");
                if (!tables.schema().isEmpty()) {
                    statement.execute("CREATE SCHEMA IF NOT EXISTS " + tables.schema());
                    statement.execute("SET LOCAL search_path TO " + tables.schema());
                }
                statement.execute(createMeta(tables));
                int version = refuseNewer(version(connection));
                for (Script script : scripts().subList(version, SCRIPTS.size())) {
                    statement.execute(script.sql());
                    record(connection, script);
                    log.info("Schema migrated to version {} ({})", script.version(), script.name());
                }
                connection.commit();
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        } catch (SQLException e) {
            throw new OutboxException(
                    "Postrider's tables could not be migrated: " + e.getMessage()
                            + ". The database is unchanged; run the scripts by hand or as a role that may create tables.",
                    e);
        }
    }

    private void validate() {
        int version = version();
        if (version < SCRIPTS.size()) {
            throw new OutboxException("Postrider's tables are at version " + version + " and this library needs "
                    + SCRIPTS.size() + ". Run the SQL below, or start with SchemaMode.MIGRATE.\n"
                    + sql(tables, version));
        }
    }

    /**
     * The version that the database has; 0 if there are no tables.
     *
     * @throws OutboxException if it is newer than this library
     */
    public int version() {
        try (Connection connection = dataSource.getConnection()) {
            return metaExists(connection) ? refuseNewer(version(connection)) : 0;
        } catch (SQLException e) {
            throw new OutboxException("Postrider's schema could not be checked: " + e.getMessage(), e);
        }
    }

    /** What brings a database from this version, 0 for none, to the latest, as one script for any tool. */
    public static String sql(TableNames tables, int fromVersion) {
        StringBuilder missing = new StringBuilder();
        if (!tables.schema().isEmpty()) {
            missing.append("CREATE SCHEMA IF NOT EXISTS %1$s;%nSET search_path TO %1$s;%n".formatted(tables.schema()));
        }
        missing.append(createMeta(tables)).append(";\n");
        for (Script script : scripts().subList(fromVersion, SCRIPTS.size())) {
            missing.append(script.sql());
            missing.append("INSERT INTO %s (version, script) VALUES (%d, '%s');%n"
                    .formatted(tables.meta(), script.version(), script.name()));
        }
        return missing.toString();
    }

    /** The script that makes the database roles, for whoever owns the tables. */
    public static String roles() {
        return read("roles.sql");
    }

    private static String createMeta(TableNames tables) {
        return "CREATE TABLE IF NOT EXISTS " + tables.meta() + " (version integer PRIMARY KEY, script text NOT NULL,"
                + " applied_at timestamptz NOT NULL DEFAULT clock_timestamp())";
    }

    private int refuseNewer(int version) {
        if (version > SCRIPTS.size()) {
            throw new OutboxException("Postrider's tables are at version " + version + " and this library knows only "
                    + SCRIPTS.size() + ". Use a newer library.");
        }
        return version;
    }

    private boolean metaExists(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            statement.setString(1, tables.meta());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getBoolean(1);
            }
        }
    }

    private int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT coalesce(max(version), 0) FROM " + tables.meta())) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private void record(Connection connection, Script script) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("INSERT INTO " + tables.meta() + " (version, script) VALUES (?, ?)")) {
            statement.setInt(1, script.version());
            statement.setString(2, script.name());
            statement.executeUpdate();
        }
    }

    private static String read(String name) {
        try (InputStream in = Schema.class.getResourceAsStream("postgresql/" + name)) {
            if (in == null) {
                throw new IllegalStateException("Resource " + name + " is missing from postrider-core");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("Resource " + name + " cannot be read from postrider-core", e);
        }
    }
}
