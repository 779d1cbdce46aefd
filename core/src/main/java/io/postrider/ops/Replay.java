// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.ReplaySql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Has delivered events delivered again, from the history: appended anew in the order of the history, behind all that is
 * undelivered, with the same event id and the header {@code postrider-replay}, which holds the time. A consumer with an inbox
 * drops what it has processed, unless they are given new ids.
 *
 * <pre>{@code
 * Replay replay = Replay.of(dataSource).rate(200);
 * replay.count(ReplayQuery.of("order-events").type("OrderPlaced").from(monday));
 * replay.run(ReplayQuery.of("order-events").type("OrderPlaced").from(monday), actor, progress -> {});
 * }</pre>
 *
 * <p>Needs the database roles {@code postrider_operator} and {@code postrider_writer}. Each batch is a transaction with its line
 * in the audit table, which says how far it came: {@link ReplayQuery#afterRow} goes on from there. For one run at a time; {@link
 * #stop} may be called by any thread.
 */
public final class Replay {
    /** What one run replays at most: their places are kept in memory. */
    public static final int MOST = 1_000_000;

    private static final int BATCH = 500;

    private final DataSource dataSource;
    private final ReplaySql sql;
    private final Rows rows;
    private final Manner manner;
    private final CountDownLatch stopped = new CountDownLatch(1);

    private record Manner(TableNames tables, int perSecond, boolean newIds) {}

    private Replay(DataSource dataSource, Manner manner) {
        this.dataSource = dataSource;
        this.sql = new ReplaySql(manner.tables);
        this.rows = new Rows(dataSource);
        this.manner = manner;
    }

    public static Replay of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Replay of(DataSource dataSource, TableNames tables) {
        return new Replay(dataSource, new Manner(tables, 1000, false));
    }

    /** So many in a second; 1,000 by default. */
    public Replay rate(int perSecond) {
        if (perSecond < 1) {
            throw new IllegalArgumentException(
                    "A rate of " + perSecond + " events a second replays nothing: give 1 or more.");
        }
        return new Replay(dataSource, new Manner(manner.tables, perSecond, manner.newIds));
    }

    /** Gives each a new event id, so that consumers with an inbox process it again. */
    public Replay newIds() {
        return new Replay(dataSource, new Manner(manner.tables, manner.perSecond, true));
    }

    /**
     * How far a run came.
     *
     * @param found how many match
     * @param done how many of them were dealt with
     * @param appended how many of these were appended; the others are undelivered at this moment, or no longer in the history
     * @param lastRow where it came to; what to give to {@link ReplayQuery#afterRow} to go on
     */
    public record Progress(long found, long done, long appended, long lastRow) {}

    /** How many match. */
    public long count(ReplayQuery query) {
        refuseWithoutHistory(query.stream());
        record Count(long all, long withoutPayload) {}
        Count count = rows.read(
                        "the history",
                        sql.count,
                        row -> new Count(row.getLong(1), row.getLong(2)),
                        values(query).toArray())
                .get(0);
        if (count.withoutPayload() > 0) {
            throw new OutboxException("Of " + count.all() + " events of stream " + query.stream() + " "
                    + count.withoutPayload() + " are in the history without their payload, so they cannot be replayed."
                    + " Narrow the time down to when it was kept.");
        }
        return count.all();
    }

    /** Appends all that match; returns how far it came, which is to the end unless it was stopped. */
    public Progress run(ReplayQuery query, Actor actor, Consumer<Progress> progress) {
        long count = count(query);
        if (count > MOST) {
            throw new OutboxException(count + " events of stream " + query.stream() + " match, and " + MOST
                    + " are replayed at once at most. Narrow it down by time, key or type.");
        }
        List<@Nullable Object> values = values(query);
        values.add(MOST);
        List<Place> places = rows.read(
                "the history",
                sql.find,
                row -> new Place(row.getLong(1), row.getString(2), row.getLong(3)),
                values.toArray());
        int batch = Math.min(BATCH, manner.perSecond);
        long start = System.nanoTime();
        Progress now = new Progress(places.size(), 0, 0, query.afterRow());
        for (int from = 0; from < places.size() && awaitTurn(start, from); from += batch) {
            List<Place> part = places.subList(from, Math.min(places.size(), from + batch));
            long appended = append(query.stream(), part, actor);
            now = new Progress(
                    places.size(),
                    now.done() + part.size(),
                    now.appended() + appended,
                    part.get(part.size() - 1).id());
            progress.accept(now);
        }
        return now;
    }

    /** Ends the run after the batch that is on its way; a replay that was stopped does nothing any more. */
    public void stop() {
        stopped.countDown();
    }

    /** Where a delivered event is. */
    private record Place(long part, String place, long id) {}

    /** Waits until so many may have been replayed; says whether to go on. */
    private boolean awaitTurn(long start, int done) {
        long due = start + TimeUnit.SECONDS.toNanos(1) * done / manner.perSecond;
        try {
            return !stopped.await(Math.max(0, due - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void refuseWithoutHistory(String stream) {
        String policy = rows.read("stream " + stream, sql.policy, row -> row.getString(1), stream).stream()
                .findFirst()
                .orElse("KEEP");
        if (!policy.equals("KEEP")) {
            throw new OutboxException("The history of stream " + stream
                    + (policy.equals("OFF") ? " is off" : " is kept without payloads")
                    + ", so its events cannot be replayed. Set it to KEEP; what is delivered from then on can be.");
        }
    }

    private static List<@Nullable Object> values(ReplayQuery query) {
        List<@Nullable Object> values = new ArrayList<>();
        values.add(query.stream());
        Collections.addAll(values, query.key(), query.key(), query.type(), query.type());
        values.add(OffsetDateTime.ofInstant(query.from(), ZoneOffset.UTC));
        values.add(OffsetDateTime.ofInstant(query.to(), ZoneOffset.UTC));
        values.add(query.afterRow());
        return values;
    }

    private long append(String stream, List<Place> part, Actor actor) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            try (PreparedStatement statement = connection.prepareStatement(sql.append)) {
                statement.setArray(1, connection.createArrayOf("int8", column(part, Place::part)));
                statement.setArray(2, connection.createArrayOf("text", column(part, Place::place)));
                statement.setArray(3, connection.createArrayOf("int8", column(part, Place::id)));
                statement.setBoolean(4, manner.newIds);
                statement.setString(5, actor.who());
                statement.setString(6, stream);
                statement.setString(7, actor.why());
                statement.setArray(8, connection.createArrayOf("text", column(part, Place::place)));
                statement.setArray(9, connection.createArrayOf("text", column(part, Place::place)));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getLong(1);
                }
            }
        } catch (SQLException e) {
            throw new OutboxException(
                    "Could not replay events of stream " + stream + " behind row "
                            + (part.get(0).id() - 1) + ": " + Discretion.firstLine(e)
                            + ". What was replayed before is in the audit table; go on behind the last row named there."
                            + " The roles postrider_operator and postrider_writer are needed.",
                    e);
        }
    }

    private static Object[] column(List<Place> part, Function<Place, ?> of) {
        return part.stream().map(of).toArray();
    }
}
