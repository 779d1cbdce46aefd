// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import io.postrider.server.BasicAuthenticator;
import io.postrider.server.Role;
import io.postrider.server.TokenAuthenticator;
import io.postrider.server.User;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** What a relay server does, as its file says. Whatever can be known to be wrong without the network is refused here. */
public record ServeConfig(
        Http server, Log log, Auth auth, Metrics metrics, Health health, Map<String, DatabaseConfig> databases) {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");
    /** Addresses of the server that no database may take. */
    private static final Set<String> RESERVED = Set.of("health", "metrics", "api");

    /**
     * Where it listens.
     *
     * @param hosts names with ports by which browsers reach it through a proxy
     */
    public record Http(String host, int port, List<String> hosts) {}

    /** What a line of the log looks like. */
    public enum LogFormat {
        TEXT,
        JSON
    }

    /**
     * What is logged.
     *
     * @param loggers other levels by the beginning of a logger's name
     */
    public record Log(LogFormat format, Level level, Map<String, Level> loggers) {}

    /** Somebody who signs in. */
    public record Person(String name, Role role, String secret) {
        /** Whether there is enough to check; what is missing has been told. */
        private boolean complete() {
            return !name.isEmpty() && !secret.isEmpty();
        }

        @Override
        public String toString() {
            return name + " (" + role + ")";
        }
    }

    /** Who may sign in. */
    public record Auth(List<Person> tokens, List<Person> basic) {
        public boolean none() {
            return tokens.isEmpty() && basic.isEmpty();
        }
    }

    /**
     * What is measured.
     *
     * @param open whether everybody may read them without signing in
     */
    public record Metrics(boolean open, String prefix, Duration refresh, int maxStreams) {}

    /** How long ago a relay may have gone through its last turn. */
    public record Health(Duration readyWithin, Duration liveWithin) {}

    /**
     * Reads a file.
     *
     * @throws ConfigException with everything that is wrong
     */
    public static ServeConfig read(Path path, Function<String, @Nullable String> environment) {
        return of(YamlFile.read(path, environment));
    }

    static ServeConfig of(YamlFile file) {
        Section root = file.root();
        Auth auth = auth(root.section("auth"));
        Http http = http(root.section("server"), auth);
        Log log = log(root.section("log"));
        Metrics metrics = metrics(root.section("metrics"));
        Section limits = root.section("health");
        ServeConfig config = new ServeConfig(http, log, auth, metrics, health(limits), databases(root));
        config.compare(limits);
        file.finish();
        return config;
    }

    private static Http http(Section section, Auth auth) {
        String host = section.text("host", "127.0.0.1");
        try {
            // Names are left for the start: to look one up is to use the network.
            boolean literal = host.matches("[0-9.]+|.*:.*") || host.equals("localhost");
            if (auth.none() && !(literal && InetAddress.getByName(host).isLoopbackAddress())) {
                section.refuse(
                        "host",
                        "'" + host + "' can be reached by others, and nobody would ask them who they are. Give auth"
                                + " tokens or auth basic, or listen on 127.0.0.1.");
            }
        } catch (UnknownHostException e) {
            section.refuse("host", "'" + host + "' is no address.");
        }
        return new Http(host, (int) section.number("port", 8080, 0, 65_535), section.texts("hosts"));
    }

    private static Log log(Section section) {
        Map<String, Level> loggers = new LinkedHashMap<>();
        section.values("loggers").forEach((name, text) -> {
            try {
                loggers.put(name, Level.valueOf(text.toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                section.refuse(
                        "loggers",
                        name + ": '" + text + "' was found, one of error, warn, info, debug, trace is expected.");
            }
        });
        return new Log(section.choice("format", LogFormat.TEXT), section.choice("level", Level.INFO), loggers);
    }

    private static Auth auth(Section section) {
        List<Person> tokens = new ArrayList<>();
        section.sections("tokens").forEach(each -> {
            Person person = person(each, "token");
            if (person.complete()) {
                each.check(
                        "token",
                        () -> TokenAuthenticator.of(Map.of(person.secret(), new User(person.name(), person.role()))));
            }
            if (!person.secret().isEmpty()
                    && tokens.stream().anyMatch(other -> other.secret().equals(person.secret()))) {
                each.refuse("token", "is somebody else's too. Give everybody a token of their own.");
            }
            tokens.add(person);
        });
        List<Person> basic = new ArrayList<>();
        section.sections("basic").forEach(each -> {
            Person person = person(each, "password");
            if (person.complete()) {
                each.check(
                        "password",
                        () -> BasicAuthenticator.empty().user(person.name(), person.secret(), person.role()));
            }
            basic.add(person);
        });
        return new Auth(tokens, basic);
    }

    private static Person person(Section section, String secret) {
        return new Person(
                section.needed("name", "who signs in, as the audit trail shall know them"),
                section.choice("role", Role.VIEWER),
                section.needed(secret, "${A_VARIABLE} with the " + secret));
    }

    private static Metrics metrics(Section section) {
        String prefix = section.text("prefix", "outbox");
        if (!prefix.matches("[a-z][a-z0-9._]*")) {
            section.refuse(
                    "prefix", "'" + prefix + "' was found, lower-case letters, digits, dots and _ are expected.");
        }
        return new Metrics(
                section.flag("public", false), prefix, section.duration("refresh", Duration.ofSeconds(15)), (int)
                        section.number("max-streams", 100, 1, 10_000));
    }

    private static Health health(Section section) {
        return new Health(
                section.duration("ready-within", Duration.ofSeconds(15)),
                section.duration("live-within", Duration.ofSeconds(60)));
    }

    /** A relay goes round when its statements have ended: one that waits for a slow database is not to be restarted. */
    private void compare(Section limits) {
        if (health.readyWithin().compareTo(health.liveWithin()) > 0) {
            limits.refuse(
                    "ready-within",
                    Span.of(health.readyWithin()) + " is longer than live-within, " + Span.of(health.liveWithin())
                            + ": it would be restarted before it is not ready. Give a shorter time, or a longer"
                            + " live-within.");
        }
        Duration statement = databases.values().stream()
                .flatMap(each -> each.relays().stream())
                .map(each -> each.times().statementTimeout())
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
        Duration least = statement.multipliedBy(3);
        if (health.liveWithin().compareTo(least) < 0) {
            limits.refuse(
                    "live-within",
                    Span.of(health.liveWithin()) + " is too short where a relay has a statement-timeout of "
                            + Span.of(statement) + ": it would be restarted while it waits for its database. Give "
                            + Span.of(least) + " or more, or a shorter statement-timeout.");
        }
    }

    private static Map<String, DatabaseConfig> databases(Section root) {
        Map<String, DatabaseConfig> databases = new LinkedHashMap<>();
        root.named("databases", "needed").forEach((name, section) -> {
            if (!NAME.matcher(name).matches() || RESERVED.contains(name)) {
                root.refuse(
                        "databases",
                        "'" + name + "' names a part of the server's address: use lower-case letters, digits and -, at"
                                + " most 32, and none of "
                                + RESERVED.stream().sorted().toList() + ".");
            }
            databases.put(name, DatabaseConfig.of(section));
        });
        if (databases.isEmpty()) {
            root.refuse("databases", "there is none. Give at least one: databases: {orders: {url: ...}}.");
        }
        return databases;
    }
}
