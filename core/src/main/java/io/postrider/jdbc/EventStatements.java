// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Settler;
import io.postrider.relay.Verdict;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The statements of one loop on the table of events, over its own connection. For one thread. */
final class EventStatements implements EventStore {
    private final Session session;
    private final Sql sql;
    private final OrderedSettings settings;
    private final String relay;
    private final Ownership ownership;
    private final SuspectStatements suspects;
    private final Settling settling;
    private final Reading reading;
    private Optional<Settler> settler = Optional.empty();

    EventStatements(Session session, Sql sql, OrderedSettings settings, String relay, Ownership ownership) {
        this(session, sql, settings, relay, ownership, new ReadForm(System::nanoTime));
    }

    EventStatements(
            Session session, Sql sql, OrderedSettings settings, String relay, Ownership ownership, ReadForm form) {
        this.session = session;
        this.sql = sql;
        this.settings = settings;
        this.relay = relay;
        this.ownership = ownership;
        this.suspects = new SuspectStatements(session, sql, settings, ownership);
        this.settling = new Settling(session, sql, relay);
        this.reading = new Reading(session, sql, settings, ownership, form);
    }

    /** With another connection, on which it settles beside the rest. */
    EventStatements settlingOn(Session second) {
        settler = Optional.of(new SecondConnection(relay, second, new Settling(second, sql, relay)));
        return this;
    }

    String relay() {
        return relay;
    }

    @Override
    public Found read(Query query) {
        return reading.read(query);
    }

    @Override
    public void released() {
        reading.forgetSwept();
    }

    @Override
    public void settle(List<Delivery> published) {
        settling.settle(published);
    }

    @Override
    public Optional<Settler> settler() {
        return settler;
    }

    @Override
    public Judged verdict(List<Verdict> verdicts) {
        reading.forgetSwept();
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
    public Set<Long> mark(List<Delivery> marked) {
        return suspects.mark(marked);
    }

    @Override
    public void calm(Map<Integer, Long> shards) {
        suspects.calm(shards);
    }

    @Override
    public void close() {
        settler.ifPresent(Settler::close);
        session.close();
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
