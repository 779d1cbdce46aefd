// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.HeaderJson;
import io.postrider.internal.OperatorSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Events that are dead, and what a person can do about them.
 *
 * <pre>{@code
 * List<DeadLetter> page = deadLetters.find(DeadLetterQuery.all().stream("order-events"));
 * deadLetters.requeue(page, new Actor("kim", "consumer fixed in 2.4.1"));
 * }</pre>
 *
 * <p>An action applies to those that are still as they were found, and says to how many; it is audited in the same
 * transaction. Thread-safe.
 */
public final class DeadLetters {
    private static final String NO_PARTITION = "23514";

    private final DataSource dataSource;
    private final Rows rows;
    private final OperatorSql sql;

    private DeadLetters(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.rows = new Rows(dataSource);
        this.sql = new OperatorSql(tables);
    }

    public static DeadLetters of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static DeadLetters of(DataSource dataSource, TableNames tables) {
        return new DeadLetters(dataSource, tables);
    }

    /** One failed attempt. */
    public record Attempt(Instant at, String relay, String errorCode, String errorMessage) {}

    /**
     * What an event says.
     *
     * @param payload null for a tombstone
     */
    @SuppressWarnings("ArrayRecordComponent") // read once to be shown, compared by nobody
    public record Content(byte @Nullable [] payload, Optional<String> contentType, Map<String, String> headers) {}

    /** A page of dead letters, oldest first. */
    public List<DeadLetter> find(DeadLetterQuery query) {
        return rows.read(
                "dead letters",
                sql.findDead,
                DeadLetters::deadLetter,
                query.afterId(),
                query.stream(),
                query.stream(),
                query.key(),
                query.key(),
                query.type(),
                query.type(),
                query.errorCode(),
                query.errorCode(),
                query.eventId(),
                query.eventId(),
                query.limit());
    }

    /** Those of these events that are dead, at most 1,000. */
    public List<DeadLetter> named(Collection<UUID> eventIds) {
        if (eventIds.size() > 1000) {
            throw new IllegalArgumentException("At most 1000 events are named at once, not " + eventIds.size() + ".");
        }
        String ids = eventIds.stream().map(UUID::toString).collect(Collectors.joining(","));
        return rows.read("dead letters", sql.namedDead, DeadLetters::deadLetter, ids);
    }

    /** Dead letters that failed alike. */
    public record Group(
            String stream,
            String type,
            String errorCode,
            long count,
            long holding,
            Instant oldest,
            Instant newest,
            String exampleMessage) {}

    /**
     * Dead letters by stream, type and error code, the largest groups first. No more than so many dead letters are looked at:
     * if the counts add up to it, there may be more.
     */
    public List<Group> groups(int bound) {
        return rows.read(
                "the groups of dead letters",
                sql.deadGroups,
                row -> new Group(
                        row.getString(1),
                        row.getString(2),
                        row.getString(3),
                        row.getLong(4),
                        row.getLong(5),
                        Rows.time(row, 6),
                        Rows.time(row, 7),
                        row.getString(8)),
                bound);
    }

    /**
     * How many there are.
     *
     * @param newest the row of the newest of them; 0 if there is none
     */
    public record Count(long found, long newest) {}

    /** How many match, counted no further than the bound; pages are of no matter. */
    public Count count(DeadLetterQuery query, int bound) {
        return rows.read(
                        "the number of dead letters",
                        sql.countDead,
                        row -> new Count(row.getLong(1), row.getLong(2)),
                        query.stream(),
                        query.stream(),
                        query.key(),
                        query.key(),
                        query.type(),
                        query.type(),
                        query.errorCode(),
                        query.errorCode(),
                        query.eventId(),
                        query.eventId(),
                        bound)
                .get(0);
    }

    /** The failed attempts of one event, oldest first. */
    public List<Attempt> attempts(UUID eventId) {
        return rows.read(
                "the attempts of event " + eventId,
                sql.attempts,
                row -> new Attempt(Rows.time(row, 1), row.getString(2), row.getString(3), row.getString(4)),
                eventId);
    }

    /** Has them delivered again, with all their attempts, before any later event of their key; returns how many. */
    public int requeue(Collection<DeadLetter> letters, Actor actor) {
        return act("requeue", sql.requeue, letters, actor.who(), actor.why());
    }

    /** What a dead letter says; empty if it is no longer as it was found. */
    public Optional<Content> content(DeadLetter letter) {
        return rows
                .read(
                        "dead letter " + letter.eventId(),
                        sql.content,
                        row -> new Content(row.getBytes(1), Rows.maybeText(row, 2), HeaderJson.read(row.getString(3))),
                        letter.id(),
                        letter.eventId(),
                        letter.revision())
                .stream()
                .findFirst();
    }

    /**
     * Changes what it says and has it delivered again, before any later event of its key; returns whether it was still
     * as it was found. Needs the database role {@code postrider_editor}.
     *
     * @throws OutboxException if the new headers break the rules of events
     */
    public boolean edit(DeadLetter letter, Edit edit, Actor actor) {
        edit.check(letter);
        return run("edit dead letter " + letter.eventId(), connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.edit)) {
                statement.setLong(1, letter.id());
                statement.setObject(2, letter.eventId());
                statement.setInt(3, letter.revision());
                statement.setBoolean(4, edit.otherPayload());
                statement.setBytes(5, edit.payload());
                statement.setString(6, edit.contentType());
                statement.setString(7, edit.headers() == null ? null : HeaderJson.write(edit.headers()));
                statement.setString(8, actor.who());
                statement.setString(9, actor.why());
                return statement.executeUpdate() == 1;
            }
        });
    }

    /**
     * Does something with all that match, page by page, and returns the sum of what it returned: {@code
     * dead.all(query, page -> dead.requeue(page, actor))}, or {@code List::size} to see how many there are. Each page is
     * a transaction of its own. What dies meanwhile is not met twice.
     */
    public long all(DeadLetterQuery query, ToIntFunction<List<DeadLetter>> action) {
        long sum = 0;
        DeadLetterQuery next = query;
        List<DeadLetter> page;
        do {
            page = find(next);
            if (!page.isEmpty()) {
                sum += action.applyAsInt(page);
                next = next.after(page.get(page.size() - 1));
            }
        } while (page.size() == query.limit());
        return sum;
    }

    /** Removes them for good, into the history; returns how many. */
    public int discard(Collection<DeadLetter> letters, Actor actor) {
        try {
            return act("discard", sql.discard, letters, actor.who(), actor.who(), actor.why());
        } catch (OutboxException e) {
            if (e.getCause() instanceof SQLException cause && NO_PARTITION.equals(cause.getSQLState())) {
                return act("discard", sql.discardToOverflow, letters, actor.who(), actor.who(), actor.why());
            }
            throw e;
        }
    }

    /** Leaves them dead, but lets later events of their keys go; returns how many. */
    public int unhold(Collection<DeadLetter> letters, Actor actor) {
        return act("unhold", sql.unhold, letters, actor.who(), actor.why());
    }

    private int act(String action, String text, Collection<DeadLetter> letters, String... words) {
        return run(action + " dead letters", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                statement.setArray(1, connection.createArrayOf("int8", column(letters, DeadLetter::id)));
                statement.setArray(2, connection.createArrayOf("uuid", column(letters, DeadLetter::eventId)));
                statement.setArray(3, connection.createArrayOf("int4", column(letters, DeadLetter::revision)));
                for (int i = 0; i < words.length; i++) {
                    statement.setString(4 + i, words[i]);
                }
                return statement.executeUpdate();
            }
        });
    }

    private static Object[] column(Collection<DeadLetter> letters, Function<DeadLetter, ?> part) {
        return letters.stream().map(part).toArray();
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(String what, Work<T> work) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return work.on(connection);
        } catch (SQLException e) {
            throw new OutboxException(
                    "Could not " + what + ": " + Discretion.firstLine(e) + ". Nothing was changed.", e);
        }
    }

    private static DeadLetter deadLetter(ResultSet rows) throws SQLException {
        return new DeadLetter(
                rows.getLong(1),
                rows.getObject(2, UUID.class),
                rows.getInt(3),
                rows.getString(4),
                Optional.ofNullable(rows.getString(5)),
                rows.getString(6),
                Optional.ofNullable(rows.getString(7)),
                Optional.ofNullable(rows.getString(8)),
                rows.getBoolean(10),
                rows.getInt(11),
                String.valueOf(rows.getString(12)),
                String.valueOf(rows.getString(13)),
                Rows.time(rows, 14),
                Rows.maybeTime(rows, 15));
    }
}
