// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.cli.config.ConfigException;
import io.postrider.cli.config.DatabaseChoice;
import io.postrider.cli.config.RelayConfig;
import io.postrider.internal.Discretion;
import io.postrider.table.TableNames;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Properties;
import java.util.function.BiFunction;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** How the database is reached: by options, else by the environment, else by a file. */
final class Access {
    private static final int CONNECT_SECONDS = 10;
    private static final int ANSWER_SECONDS = 300;

    private final Console console;
    private @Nullable Properties file;

    @Option(
            names = "--url",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "jdbc:postgresql://host:port/database; or POSTRIDER_URL.")
    private @Nullable String url;

    @Option(
            names = "--user",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "Database user; or POSTRIDER_USER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            scope = ScopeType.INHERIT,
            paramLabel = "PASSWORD",
            interactive = true,
            arity = "0..1",
            description =
                    "Without a value it is asked for. Others on this machine see a value: better POSTRIDER_PASSWORD.")
    private char @Nullable [] password;

    @Option(
            names = "--schema",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "Database schema of the tables; or POSTRIDER_SCHEMA. Default: the first of the search_path.")
    private @Nullable String schema;

    @Option(
            names = "--config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "Properties: url, user, password, schema; or the YAML file of a server; or POSTRIDER_CONFIG.")
    private @Nullable Path config;

    @Option(
            names = "--database",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "Which database of a YAML file, if it has several; or POSTRIDER_DATABASE.")
    private @Nullable String database;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show the stack trace of an error.")
    private boolean debug;

    Access(Console console) {
        this.console = console;
    }

    boolean debug() {
        return debug;
    }

    TableNames tables() {
        String given = value(schema, "POSTRIDER_SCHEMA", "schema");
        try {
            return new TableNames(given == null ? "" : given);
        } catch (IllegalArgumentException e) {
            throw new Refusal(Exit.USAGE, String.valueOf(e.getMessage()));
        }
    }

    /** One connection at a time, opened when it is needed: a pool would take longer to start than most commands run. */
    DataSource dataSource() {
        String address = value(url, "POSTRIDER_URL", "url");
        if (address == null) {
            throw new Refusal(
                    Exit.USAGE,
                    "No database is given. Use --url jdbc:postgresql://host:5432/database, or POSTRIDER_URL,"
                            + " or url=... in a file named by --config.");
        }
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setConnectTimeout(CONNECT_SECONDS);
        source.setSocketTimeout(ANSWER_SECONDS);
        source.setApplicationName("postrider-cli");
        try {
            source.setUrl(address);
        } catch (IllegalArgumentException e) {
            throw new Refusal(
                    Exit.USAGE,
                    "'" + Discretion.withoutCredentials(address)
                            + "' is no address of a database. Write jdbc:postgresql://host:5432/database.");
        }
        String name = value(user, "POSTRIDER_USER", "user");
        if (name != null) {
            source.setUser(name);
        }
        String secret = value(password == null ? null : new String(password), "POSTRIDER_PASSWORD", "password");
        if (secret != null) {
            source.setPassword(secret);
        }
        return source;
    }

    private @Nullable String value(@Nullable String option, String variable, String property) {
        if (option != null) {
            return option;
        }
        String given = console.environment(variable);
        return given != null ? given : properties().getProperty(property);
    }

    private Properties properties() {
        if (file != null) {
            return file;
        }
        Properties read = configFile().map(this::read).orElseGet(Properties::new);
        file = read;
        return read;
    }

    Optional<Path> configFile() {
        String variable = console.environment("POSTRIDER_CONFIG");
        return config != null
                ? Optional.of(config)
                : Optional.ofNullable(variable).map(Path::of);
    }

    private Properties read(Path path) {
        if (isOfServer(path)) {
            return asked(path, DatabaseChoice::choose);
        }
        Properties read = new Properties();
        try (Reader reader = Files.newBufferedReader(path)) {
            read.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new Refusal(
                    Exit.USAGE, "The file " + path + " cannot be read. Give --config a readable properties file.");
        }
        return read;
    }

    /** The relay of this group, if there is the file of a server and it has one. */
    Optional<RelayConfig> relay(String group) {
        return configFile()
                .filter(Access::isOfServer)
                .flatMap(path -> asked(path, (choice, wanted) -> choice.relay(wanted, group)));
    }

    private static boolean isOfServer(Path path) {
        String name = path.toString();
        return name.endsWith(".yaml") || name.endsWith(".yml");
    }

    private <T> T asked(Path path, BiFunction<DatabaseChoice, @Nullable String, T> question) {
        String wanted = database != null ? database : console.environment("POSTRIDER_DATABASE");
        try {
            return question.apply(DatabaseChoice.of(path, console::environment), wanted);
        } catch (ConfigException e) {
            throw new Refusal(Exit.USAGE, String.valueOf(e.getMessage()));
        }
    }
}
