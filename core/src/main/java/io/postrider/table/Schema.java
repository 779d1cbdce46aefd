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
    private static final List<Step> STEPS =
            List.of(new Step("V1__outbox.sql", 1), new Step("V2__relay_version.sql", 1));

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

    private record Step(String name, int usableFrom) {}

    /**
     * One numbered step from an older version to the next.
     *
     * @param usableFrom libraries that need tables of this version or later can use them after this step
     */
    public record Script(int version, String name, int usableFrom, String sql) {}

    /** The version that this library needs. */
    public static int latestVersion() {
        return STEPS.size();
    }

    /** All scripts, oldest first. */
    public static List<Script> scripts() {
        return STEPS.stream()
                .map(step -> new Script(STEPS.indexOf(step) + 1, step.name(), step.usableFrom(), read(step.name())))
                .toList();
    }

    /**
     * Brings the database to the needed version, or checks that it has it. A newer database that this library can still use
     * is left as it is: while an application is upgraded, its older instances can start on tables that are new already.
     *
     * @throws OutboxException in mode {@code VALIDATE} if scripts are missing, with their SQL; in either mode if the
     *     database is too new for this library
     */
    public void apply(SchemaMode mode) {
        switch (mode) {
            case MIGRATE -> migrate();
            case VALIDATE -> validate();
            case NONE -> log.debug("Schema neither migrated nor checked, as configured");
        }
    }

    private void migrate() {
        new Migration(dataSource, tables).run();
    }

    private void validate() {
        int version = version();
        if (version < latestVersion()) {
            throw new OutboxException("Postrider's tables are at version " + version + " and this library needs "
                    + latestVersion() + ". Run the SQL below, or start with SchemaMode.MIGRATE.\n"
                    + sql(tables, version));
        }
    }

    /**
     * The version that the database has; 0 if there are no tables.
     *
     * @throws OutboxException if it is too new for this library
     */
    public int version() {
        try (Connection connection = dataSource.getConnection()) {
            return version(connection, tables);
        } catch (SQLException e) {
            throw new OutboxException("Postrider's schema could not be checked: " + e.getMessage(), e);
        }
    }

    /** What brings a database from this version, 0 for none, to the latest, as one script for any tool. */
    public static String sql(TableNames tables, int fromVersion) {
        StringBuilder missing = new StringBuilder(
                "-- Run this in one transaction that ends at the first error: psql --single-transaction -v ON_ERROR_STOP=1\n");
        if (!tables.schema().isEmpty()) {
            if (fromVersion == 0) {
                missing.append("CREATE SCHEMA IF NOT EXISTS ")
                        .append(tables.schema())
                        .append(";\n");
            }
            missing.append("SET search_path TO ").append(tables.schema()).append(";\n");
        }
        if (fromVersion == 0) {
            missing.append(createMeta(tables)).append(";\n");
        } else {
            missing.append("""
                    -- Others must not wait for long behind this. If it ends with a timeout, run it again.
                    SET LOCAL lock_timeout = '30ms';
                    """);
        }
        for (Script script : scripts().subList(fromVersion, latestVersion())) {
            missing.append(script.sql());
            missing.append("INSERT INTO %s (version, script, usable_from) VALUES (%d, '%s', %d);%n"
                    .formatted(tables.meta(), script.version(), script.name(), script.usableFrom()));
        }
        return missing.toString();
    }

    /** The script that makes the database roles, for whoever owns the tables. */
    public static String roles() {
        return read("roles.sql");
    }

    /** Where a database says its version; older libraries look there too. */
    static String createMeta(TableNames tables) {
        return "CREATE TABLE IF NOT EXISTS " + tables.meta() + " (version integer PRIMARY KEY, script text NOT NULL,"
                + " applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), usable_from integer NOT NULL)";
    }

    /** The version of the tables; 0 if there are none. */
    static int version(Connection connection, TableNames tables) throws SQLException {
        if (!metaExists(connection, tables)) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT coalesce(max(version), 0), coalesce(max(usable_from), 0) FROM " + tables.meta())) {
            rows.next();
            int version = rows.getInt(1);
            int usableFrom = rows.getInt(2);
            if (usableFrom > latestVersion()) {
                throw new OutboxException("Postrider's tables are at version " + version
                        + " and can be used by libraries that know version " + usableFrom
                        + " of the tables or later; this one knows only " + latestVersion() + ". Use a newer library.");
            }
            return version;
        }
    }

    private static boolean metaExists(Connection connection, TableNames tables) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            statement.setString(1, tables.meta());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getBoolean(1);
            }
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
