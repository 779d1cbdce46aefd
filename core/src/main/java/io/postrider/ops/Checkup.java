// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.CheckupSql;
import io.postrider.internal.Rows;
import io.postrider.table.Schema;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** Looks at everything that is known to go wrong, and says what to do about it. Changes nothing. Thread-safe. */
public final class Checkup {
    private static final Duration SKEW = Duration.ofSeconds(2);
    private static final Duration LATE = Duration.ofMinutes(1);
    private static final int PARTITIONS_AHEAD = 3;
    private static final long MANY_DEAD_ROWS = 200_000;

    private final DataSource dataSource;
    private final TableNames tables;
    private final Rows rows;
    private final CheckupSql sql;

    private Checkup(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.rows = new Rows(dataSource);
        this.sql = new CheckupSql(tables);
    }

    public static Checkup of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Checkup of(DataSource dataSource, TableNames tables) {
        return new Checkup(dataSource, tables);
    }

    /** How bad it is. */
    public enum Level {
        OK,
        WARNING,
        PROBLEM
    }

    /**
     * What one look found.
     *
     * @param advice what to do; empty if nothing
     */
    public record Finding(String check, Level level, String what, String advice) {}

    /** Everything, in a fixed order; a check that fails is a finding, and so are no tables, after which nothing is looked at. */
    public List<Finding> run() {
        List<Finding> findings = new ArrayList<>(attempt("connection", this::server));
        if (findings.get(0).level() == Level.PROBLEM) {
            return findings;
        }
        findings.addAll(attempt("schema", this::schema));
        if (findings.get(findings.size() - 1).level() == Level.PROBLEM) {
            return findings;
        }
        findings.addAll(attempt("history", this::history));
        findings.addAll(attempt("delivery", this::delivery));
        findings.addAll(attempt("table", this::turnover));
        findings.addAll(attempt("snapshots", this::snapshots));
        return findings;
    }

    private static List<Finding> attempt(String check, Supplier<List<Finding>> look) {
        try {
            return look.get();
        } catch (OutboxException e) {
            String advice = "Check the address, the user and its rights (docs/guide/roles.md).";
            return List.of(new Finding(check, Level.PROBLEM, String.valueOf(e.getMessage()), advice));
        }
    }

    private List<Finding> server() {
        Instant before = Instant.now();
        record Server(String version, boolean standby, Instant clock) {}
        Server server = rows.read(
                        "the server's version",
                        sql.server,
                        row -> new Server(row.getString(1), row.getBoolean(2), Rows.time(row, 3)))
                .get(0);
        Instant after = Instant.now();
        List<Finding> found = new ArrayList<>();
        if (server.standby()) {
            found.add(new Finding(
                    "connection",
                    Level.PROBLEM,
                    "This server is a standby: relays deliver nothing from it",
                    "Connect to the primary, for example with targetServerType=primary in the URL."));
        } else {
            found.add(ok("connection", "PostgreSQL " + server.version()));
        }
        Duration skew = server.clock().isBefore(before)
                ? Duration.between(server.clock(), before)
                : server.clock().isAfter(after) ? Duration.between(after, server.clock()) : Duration.ZERO;
        found.add(
                skew.compareTo(SKEW) > 0
                        ? new Finding(
                                "clock",
                                Level.WARNING,
                                "This machine's clock is " + skew.toSeconds() + " s off the server's",
                                "Delivery goes by the server's clock alone; times in logs will mislead. Check NTP.")
                        : ok("clock", "agrees with the server's within " + SKEW.toSeconds() + " s"));
        return found;
    }

    private List<Finding> schema() {
        int version = Schema.of(dataSource, tables).version();
        if (version >= Schema.latestVersion()) {
            return List.of(ok(
                    "schema",
                    "version " + version + (version == Schema.latestVersion() ? "" : ", newer than this program")));
        }
        return List.of(new Finding(
                "schema",
                Level.PROBLEM,
                "The tables are at version " + version + " and this program needs " + Schema.latestVersion(),
                version == 0 ? "Give the right schema, or run: postrider migrate" : "Run: postrider migrate"));
    }

    private List<Finding> history() {
        record Ahead(long days, boolean overflow) {}
        Ahead ahead = rows.read("the history", sql.history, row -> new Ahead(row.getLong(1), row.getBoolean(2)))
                .get(0);
        List<Finding> found = new ArrayList<>();
        found.add(
                ahead.days() < PARTITIONS_AHEAD
                        ? new Finding(
                                "history",
                                Level.WARNING,
                                "Partitions are made for " + ahead.days() + " days to come",
                                "A relay makes them every hour. Start one, or run: postrider prune --keep-days 7")
                        : ok("history", "partitions for " + ahead.days() + " days to come"));
        if (ahead.overflow()) {
            found.add(new Finding(
                    "overflow",
                    Level.WARNING,
                    "Some history is in the overflow table, since a partition was missing",
                    "Nothing is lost; it is pruned like the rest."));
        }
        return found;
    }

    private List<Finding> delivery() {
        List<Relays.Member> members = Relays.of(dataSource, tables).members();
        List<Backlog.Stream> streams = Backlog.of(dataSource, tables).upTo(1000).streams();
        Set<String> served = members.stream()
                .filter(each -> each.alive() && each.wants().equals("SHARDS"))
                .map(Relays.Member::group)
                .collect(Collectors.toSet());
        Set<String> claimed = members.stream()
                .filter(each -> each.alive() && each.wants().equals("CLAIMS"))
                .flatMap(each -> each.streams().stream())
                .collect(Collectors.toSet());
        List<Finding> found = new ArrayList<>();
        found.add(
                served.isEmpty() && claimed.isEmpty()
                        ? new Finding("relays", Level.PROBLEM, "No relay is running", "Start one.")
                        : ok(
                                "relays",
                                members.stream().filter(Relays.Member::alive).count() + " alive"));
        members.forEach(each -> member(each, found));
        streams.forEach(each -> stream(each, isUnserved(each, served, claimed), found));
        return found;
    }

    private static void member(Relays.Member relay, List<Finding> found) {
        if (!relay.alive()) {
            String what = "Relay " + relay.name() + " has been silent for "
                    + relay.silentFor().toSeconds() + " s";
            found.add(new Finding("relays", Level.WARNING, what, "It died or hangs; another takes over by itself."));
        } else if (!relay.closed().isEmpty()) {
            String what = "The destination of " + String.join(", ", relay.closed()) + " does not answer relay "
                    + relay.name();
            found.add(new Finding(
                    "destination",
                    Level.PROBLEM,
                    what,
                    "Look at the broker; nothing is lost, and no attempt is used."));
        }
    }

    private static void stream(Backlog.Stream stream, boolean unserved, List<Finding> found) {
        String name = "Stream " + stream.name();
        if (stream.dead() > 0) {
            String what = name + " has " + stream.dead() + (stream.dead() >= 1000 ? " or more" : "") + " dead letters";
            found.add(new Finding("dead", Level.WARNING, what, "Run: postrider dead list --stream " + stream.name()));
        }
        if (stream.unknown() > 0) {
            String what = name + " has " + stream.unknown() + (stream.unknown() >= 1000 ? " or more" : "")
                    + " events that may or may not have had their effect";
            found.add(new Finding(
                    "unknown", Level.WARNING, what, "Run: postrider unknown list --stream " + stream.name()));
        }
        if (stream.pause().isPresent()) {
            String what = name + " is paused by " + stream.pause().get().by() + ": "
                    + stream.pause().get().reason();
            found.add(new Finding("paused", Level.WARNING, what, "Run: postrider streams resume " + stream.name()));
            return;
        }
        if (unserved) {
            String what =
                    name + stream.group().map(group -> " (group " + group + ")").orElse("") + " has no relay";
            found.add(new Finding("streams", Level.PROBLEM, what, "Start a relay of its group."));
        }
    }

    private static boolean isUnserved(Backlog.Stream stream, Set<String> groups, Set<String> claimed) {
        if (stream.competing()) {
            return !claimed.contains(stream.name());
        }
        return stream.group().isPresent()
                ? !groups.contains(stream.group().get())
                : stream.oldest().isPresent()
                        && (groups.isEmpty() || stream.oldest().get().compareTo(LATE) > 0);
    }

    private List<Finding> turnover() {
        record Turnover(long live, long dead, long bytes) {}
        return rows
                .read(
                        "the statistics of the table",
                        sql.turnover,
                        row -> new Turnover(row.getLong(1), row.getLong(2), row.getLong(3)))
                .stream()
                .map(each -> each.dead() > MANY_DEAD_ROWS && each.dead() > 2 * each.live()
                        ? new Finding(
                                "table",
                                Level.WARNING,
                                "outbox_event holds " + each.dead() + " rows that are gone, beside " + each.live()
                                        + " (" + each.bytes() / (1 << 20) + " MiB)",
                                "Vacuum does not get through: look for old snapshots below, then VACUUM outbox_event.")
                        : ok("table", each.bytes() / (1 << 20) + " MiB, " + each.dead() + " rows to be vacuumed"))
                .toList();
    }

    private List<Finding> snapshots() {
        List<Finding> found = rows.read("open transactions", sql.snapshots, row -> {
            String age = Rows.maybeSeconds(row, 2)
                    .map(each -> " is open for " + each.toMinutes() + " min")
                    .orElse("");
            return new Finding(
                    "snapshots",
                    Level.WARNING,
                    row.getString(1) + age + ", and keeps what was delivered from being vacuumed",
                    "End it, or let it end.");
        });
        return found.isEmpty() ? List.of(ok("snapshots", "none older than 5 min that this user can see")) : found;
    }

    private static Finding ok(String check, String what) {
        return new Finding(check, Level.OK, what, "");
    }
}
