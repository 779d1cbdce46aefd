// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import io.postrider.internal.Discretion;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * One database of a relay server.
 *
 * @param poolSize how many connections it may have open; 0: as many as it needs
 * @param notified whether commits in other processes wake the relays at once
 */
public record DatabaseConfig(
        Address address,
        TableNames tables,
        SchemaMode schemaMode,
        int poolSize,
        boolean notified,
        History history,
        AlertsConfig alerts,
        List<RelayConfig> relays) {
    /** What the dashboard, the gauges and the probe want besides the relays. */
    private static final int LOOKERS = 6;

    /** How it is reached. */
    public record Address(String url, Optional<String> user, Optional<String> password) {
        @Override
        public String toString() {
            return Discretion.withoutCredentials(url).replaceAll("\\?.*", "");
        }
    }

    /** What becomes of old history. */
    public enum HistoryMode {
        DROP,
        DELETE,
        ARCHIVE
    }

    /**
     * How long what has happened is known.
     *
     * @param keepAudit how long it is known who did what by hand
     */
    public record History(Duration keep, HistoryMode mode, LocalTime dailyAt, ZoneId zone, Duration keepAudit) {}

    static DatabaseConfig of(Section section) {
        Address address = address(section);
        List<RelayConfig> relays =
                section.sections("relays").stream().map(RelayConfig::of).toList();
        DatabaseConfig config = new DatabaseConfig(
                address,
                tables(section),
                section.choice("schema-mode", SchemaMode.VALIDATE),
                (int) section.number("pool-size", 0, 0, 1000),
                section.flag("notify", true),
                history(section.section("history")),
                AlertsConfig.of(section.section("alerts")),
                relays);
        Set<String> groups = new HashSet<>();
        relays.forEach(each -> {
            if (!groups.add(each.group())) {
                section.refuse(
                        "relays",
                        "two are of the group '" + each.group() + "' and would share its work. Keep one, and raise its"
                                + " loops.");
            }
        });
        if (config.poolSize() > 0 && config.poolSize() < config.needed()) {
            section.refuse(
                    "pool-size",
                    config.poolSize() + " was found, and this database needs " + config.needed()
                            + ": for each relay its loops and 2, 1 for notify, and " + LOOKERS + " besides.");
        }
        return config;
    }

    /** How many connections are in use at once if all are: in a backlog each loop has a second one. */
    public int connections() {
        return needed() + relays.stream().mapToInt(RelayConfig::loops).sum();
    }

    private int needed() {
        int relaying = relays.stream().mapToInt(each -> each.loops() + 2).sum();
        return relaying + (notified && !relays.isEmpty() ? 1 : 0) + LOOKERS;
    }

    static Address address(Section section) {
        String url = section.needed("url", "jdbc:postgresql://host:5432/database");
        if (!url.isEmpty()) {
            try {
                new PGSimpleDataSource().setUrl(url);
            } catch (IllegalArgumentException e) {
                section.refuse(
                        "url",
                        "'" + Discretion.withoutCredentials(url)
                                + "' is no address of a database. Write jdbc:postgresql://host:5432/database.");
            }
        }
        return new Address(url, section.text("user"), section.text("password"));
    }

    static TableNames tables(Section section) {
        String schema = section.text("schema", "");
        return section.checked("schema", () -> new TableNames(schema), TableNames.ofDefaults());
    }

    private static History history(Section section) {
        Duration keep = section.duration("keep", Duration.ofDays(7));
        if (keep.compareTo(Duration.ofDays(1)) < 0) {
            section.refuse("keep", Span.of(keep) + " was found, a day or more is expected, such as 7d.");
        }
        Duration keepAudit = section.duration("keep-audit", Duration.ofDays(365));
        if (keepAudit.compareTo(Duration.ofDays(30)) < 0) {
            section.refuse("keep-audit", Span.of(keepAudit) + " was found, 30d or more is expected.");
        }
        String time = section.text("daily-at", "02:00");
        String zone = section.text("zone", "UTC");
        return new History(
                keep,
                section.choice("mode", HistoryMode.DROP),
                parsed(section, "daily-at", time, "a time of day such as 02:00", LocalTime::parse, LocalTime.of(2, 0)),
                parsed(section, "zone", zone, "a time zone such as UTC or Europe/Rome", ZoneId::of, ZoneId.of("UTC")),
                keepAudit);
    }

    private interface Parser<T> {
        T parse(String text);
    }

    private static <T> T parsed(
            Section section, String key, String text, String expected, Parser<T> parser, T otherwise) {
        try {
            return parser.parse(text);
        } catch (DateTimeException e) {
            section.refuse(key, "'" + text + "' was found, " + expected + " is expected.");
            return otherwise;
        }
    }
}
