// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.internal.HeaderJson;
import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The statements of one loop on the table of events, over its own connection. For one thread. */
final class EventStatements implements EventStore {
    private static final String GAP_HEADER = "postrider-gap";

    private final Session session;
    private final Sql sql;
    private final OrderedSettings settings;
    private final String relay;
    private final Ownership ownership;
    private final SuspectStatements suspects;
    private final Settling settling;
    private final ReadForm form;

    EventStatements(Session session, Sql sql, OrderedSettings settings, String relay, Ownership ownership) {
        this(session, sql, settings, relay, ownership, new ReadForm());
    }

    EventStatements(
            Session session, Sql sql, OrderedSettings settings, String relay, Ownership ownership, ReadForm form) {
        this.form = form;
        this.session = session;
        this.sql = sql;
        this.settings = settings;
        this.relay = relay;
        this.ownership = ownership;
        this.suspects = new SuspectStatements(session, sql, settings, ownership);
        this.settling = new Settling(session, sql, relay);
    }

    String relay() {
        return relay;
    }

    @Override
    public Found read(Query query) {
        long before = System.nanoTime();
        if (form.looksAtAll(before)) {
            Optional<Found> found = read(query, sql.readFew);
            long after = System.nanoTime();
            if (found.isPresent()) {
                form.looked(after - before);
                return found.get();
            }
            form.foundMany(after);
            before = after;
        }
        Found found = read(query, sql.read).orElseThrow();
        form.stepped(System.nanoTime() - before, found.deliveries().size());
        return found;
    }

    /** Empty: there are too many for this form of the statement. */
    private Optional<Found> read(Query query, String form) {
        long before = System.nanoTime();
        return session.run("read events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(form)) {
                statement.setArray(1, array(connection, "int8", epochs(query.shards())));
                statement.setInt(2, query.shards().keySet().iterator().next());
                statement.setString(3, settings.group());
                statement.setLong(4, ownership.member());
                statement.setBoolean(5, settings.adoptsStreams());
                statement.setArray(6, array(connection, "text", query.without()));
                statement.setString(7, query.only());
                statement.setArray(8, array(connection, "int8", query.inFlight()));
                statement.setInt(9, query.rows());
                statement.setInt(10, query.depth());
                statement.setInt(11, query.depth());
                statement.setInt(12, query.rows());
                statement.setLong(13, query.bytes());
                try (ResultSet rows = statement.executeQuery()) {
                    return found(connection, rows, before);
                }
            }
        });
    }

    @Override
    public void settle(List<Delivery> published) {
        settling.settle(published);
    }

    @Override
    public Judged verdict(List<Verdict> verdicts) {
        return session.run("write verdicts", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.verdict)) {
                statement.setArray(
                        1,
                        array(connection, "int8", of(verdicts, v -> v.delivery().id())));
                statement.setArray(
                        2,
                        array(
                                connection,
                                "uuid",
                                of(verdicts, v -> v.delivery().event().id())));
                statement.setArray(
                        3,
                        array(connection, "int4", of(verdicts, v -> v.delivery().revision())));
                statement.setArray(
                        4,
                        array(
                                connection,
                                "int2",
                                of(verdicts, v -> ShardClaim.of(v.delivery()).shard())));
                statement.setArray(
                        5,
                        array(
                                connection,
                                "int8",
                                of(verdicts, v -> ShardClaim.of(v.delivery()).epoch())));
                statement.setArray(6, array(connection, "text", of(verdicts, v -> status(v.outcome()))));
                statement.setArray(7, array(connection, "int8", of(verdicts, v -> delayMicros(v.outcome()))));
                statement.setArray(
                        8,
                        array(connection, "text", of(verdicts, v -> v.outcome().code())));
                statement.setArray(
                        9,
                        array(connection, "text", of(verdicts, v -> v.outcome().message())));
                statement.setArray(10, array(connection, "bool", of(verdicts, Expiry::isExpired)));
                statement.setString(11, settings.group());
                statement.setLong(12, ownership.member());
                statement.setString(13, relay);
                try (ResultSet rows = statement.executeQuery()) {
                    Set<Long> written = new HashSet<>();
                    Set<Integer> owned = new HashSet<>();
                    while (rows.next()) {
                        long id = rows.getLong(1);
                        if (rows.wasNull()) {
                            owned.add(rows.getInt(2));
                        } else {
                            written.add(id);
                        }
                    }
                    return new Judged(written, owned);
                }
            }
        });
    }

    @Override
    public void register(Set<String> streams) {
        session.run("register streams", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.register)) {
                statement.setArray(1, array(connection, "text", streams));
                statement.setString(2, settings.group());
                return statement.executeUpdate();
            }
        });
    }

    @Override
    public Map<Long, Integer> mark(List<Delivery> marked) {
        return suspects.mark(marked);
    }

    @Override
    public void calm(Map<Integer, Long> shards) {
        suspects.calm(shards);
    }

    @Override
    public void close() {
        session.close();
    }

    private void freeLeases(Connection connection, Set<Integer> shards) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.freeLeases)) {
            statement.setArray(1, array(connection, "int2", shards));
            statement.executeUpdate();
        }
    }

    private Optional<Found> found(Connection connection, ResultSet rows, long before) throws SQLException {
        List<Delivery> deliveries = new ArrayList<>();
        Set<Integer> owned = new HashSet<>();
        Set<Integer> holding = new HashSet<>();
        Set<String> newStreams = new HashSet<>();
        Optional<Long> due = Optional.empty();
        Set<Integer> leasesRanOut = new HashSet<>();
        while (rows.next()) {
            long id = rows.getLong(1);
            if (rows.wasNull()) {
                owned.addAll(shards(rows.getArray(20)));
                holding.addAll(shards(rows.getArray(21)));
                long micros = rows.getLong(22);
                due = rows.wasNull() ? Optional.empty() : Optional.of(micros);
                if (rows.getBoolean(23)) {
                    throw Session.readOnly();
                }
                if (rows.getBoolean(26)) {
                    return Optional.empty();
                }
            } else {
                ShardClaim claim = new ShardClaim(rows.getInt(5), rows.getLong(6), rows.getBoolean(17), ownership);
                Delivery delivery = new Delivery(id, rows.getInt(3), rows.getInt(4), event(rows), claim);
                deliveries.add(Expiry.of(delivery, rows, 25, before));
                if (rows.getBoolean(24)) {
                    leasesRanOut.add(claim.shard());
                }
                if (rows.getBoolean(18)) {
                    newStreams.add(rows.getString(7));
                }
            }
        }
        // The statement promises which rows, not their order.
        deliveries.sort(Comparator.comparingLong(Delivery::id));
        if (!leasesRanOut.isEmpty()) {
            freeLeases(connection, leasesRanOut);
        }
        return Optional.of(new Found(deliveries, owned, holding, newStreams, due));
    }

    /** The columns of an event, which stand in the same places in all statements that read some. */
    static OutboxEvent event(ResultSet rows) throws SQLException {
        OutboxEvent.Builder event = OutboxEvent.of(rows.getString(7), rows.getString(9));
        event.id(rows.getObject(2, UUID.class));
        String aggregateType = rows.getString(10);
        String aggregateId = rows.getString(11);
        // Another writer may have given one half of it.
        event.aggregate(aggregateType == null ? "" : aggregateType, aggregateId == null ? "" : aggregateId);
        String key = rows.getString(8);
        if (key == null) {
            event.unkeyed();
        } else {
            event.key(key);
        }
        byte[] payload = rows.getBytes(12);
        String contentType = rows.getString(13);
        if (payload != null && contentType != null) {
            event.payload(payload, contentType);
        } else if (payload != null) {
            event.payload(payload);
        }
        event.headers(HeaderJson.read(rows.getString(14)));
        String gap = rows.getString(19);
        if (gap != null) {
            event.header(GAP_HEADER, gap);
        }
        event.occurredAt(rows.getObject(15, OffsetDateTime.class).toInstant());
        int maxAttempts = rows.getInt(16);
        if (!rows.wasNull()) {
            event.maxAttempts(maxAttempts);
        }
        return event.buildStored();
    }

    private static Set<Integer> shards(@Nullable Array array) throws SQLException {
        Set<Integer> shards = new HashSet<>();
        if (array != null) {
            Arrays.stream((Object[]) array.getArray()).forEach(shard -> shards.add(((Number) shard).intValue()));
        }
        return shards;
    }

    private static List<Long> epochs(Map<Integer, Long> shards) {
        return IntStream.range(0, Ownership.SHARDS)
                .mapToObj(shard -> shards.getOrDefault(shard, -1L))
                .toList();
    }

    static String status(Outcome.Failed outcome) {
        if (outcome instanceof Outcome.Unknown) {
            return "UNKNOWN";
        }
        return outcome instanceof Outcome.Retry ? "WAITING" : "DEAD";
    }

    static long delayMicros(Outcome.Failed outcome) {
        return outcome instanceof Outcome.Retry retry ? retry.delay().toNanos() / 1000 : 0;
    }

    static <T, R> List<R> of(List<T> items, Function<T, R> part) {
        return items.stream().map(part).toList();
    }

    static Array array(Connection connection, String type, Collection<?> values) throws SQLException {
        // The driver sends arrays of a type that it knows in binary form, others as text.
        return connection.createArrayOf(
                type,
                switch (type) {
                    case "int8" -> values.toArray(new Long[0]);
                    case "int4" -> values.toArray(new Integer[0]);
                    default -> values.toArray();
                });
    }
}
