// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.AlertSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** Looks at the tables for {@link Alerts}, at a bounded cost. Thread-safe. */
final class Watch {
    private static final long LEAST_BOUND = 100_000;
    private static final int EXAMPLES = 5;

    private final DataSource dataSource;
    private final TableNames tables;
    private final AlertSql sql;
    private final Rows rows;

    Watch(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.sql = new AlertSql(tables);
        this.rows = new Rows(dataSource);
    }

    Situation look(Collection<Condition> conditions) {
        long bound = bound(conditions);
        Instant at = rows.read("the clock", sql.now, row -> Rows.time(row, 1)).get(0);
        List<Situation.Held> held = conditions.stream()
                .filter(Condition.KeyHeld.class::isInstance)
                .map(each -> ((Condition.KeyHeld) each).longerThan())
                .findFirst()
                .map(this::held)
                .orElse(List.of());
        return new Situation(
                at,
                bound,
                Backlog.of(dataSource, tables).upTo(bound).streams(),
                Relays.of(dataSource, tables).members(),
                rows.read("dead letters", sql.dead, row -> dead(row, bound), bound),
                held);
    }

    /** Some of these streams that died after this time. */
    List<DeadLetter> examples(Collection<String> streams, Instant after) {
        return rows.read(
                "dead letters",
                sql.examples,
                Watch::example,
                streams.toArray(String[]::new),
                OffsetDateTime.ofInstant(after, ZoneOffset.UTC),
                EXAMPLES);
    }

    private static long bound(Collection<Condition> conditions) {
        long bound = LEAST_BOUND;
        for (Condition each : conditions) {
            if (each instanceof Condition.Pending pending) {
                bound = Math.max(bound, pending.moreThan() + 1);
            } else if (each instanceof Condition.Retrying retrying) {
                bound = Math.max(bound, retrying.moreThan() + 1);
            }
        }
        return bound;
    }

    private List<Situation.Held> held(Duration longerThan) {
        return rows.read(
                "held keys",
                sql.held,
                row -> new Situation.Held(
                        row.getString(1),
                        row.getLong(2),
                        row.getString(3),
                        Rows.maybeSeconds(row, 4).orElse(Duration.ZERO)),
                longerThan.toMillis() / 1000.0);
    }

    private static Situation.Dead dead(ResultSet row, long bound) throws SQLException {
        return new Situation.Dead(row.getString(1), row.getLong(2), row.getLong(2) >= bound, Rows.time(row, 3));
    }

    private static DeadLetter example(ResultSet row) throws SQLException {
        return new DeadLetter(
                row.getLong(1),
                row.getObject(2, UUID.class),
                row.getInt(3),
                row.getString(4),
                Rows.maybeText(row, 5),
                row.getString(6),
                Rows.maybeText(row, 7),
                Rows.maybeText(row, 8),
                row.getBoolean(9),
                row.getInt(10),
                Rows.maybeText(row, 11).orElse("?"),
                Rows.maybeText(row, 12).orElse(""),
                Rows.time(row, 13),
                Rows.maybeTime(row, 14));
    }
}
