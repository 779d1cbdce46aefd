// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a loop reads what it may send. For one thread. */
final class Reading {
    private static final Logger log = LoggerFactory.getLogger(Reading.class);

    /** So many of one shard take nobody's place. */
    private static final int FEW = 4;

    /** A sweep looks at so many times what may be taken: what is others' or under way, barred, delayed or dead counts too. */
    private static final long WIDE = 8;

    private final Session session;
    private final Sql sql;
    private final OrderedSettings settings;
    private final Ownership ownership;
    private final ReadForm form;
    private Optional<Swept> swept = Optional.empty();

    Reading(Session session, Sql sql, OrderedSettings settings, Ownership ownership, ReadForm form) {
        this.session = session;
        this.sql = sql;
        this.settings = settings;
        this.ownership = ownership;
        this.form = form;
    }

    EventStore.Found read(EventStore.Query query) {
        Optional<ReadForm.Backlog> backlog = query.orPart() ? form.sweep(form.now()) : Optional.empty();
        return backlog.flatMap(it -> others(query, it).or(() -> sweep(query, it)))
                .orElseGet(() -> readAll(query));
    }

    /** Something that was under way is to be found again. */
    void forgetSwept() {
        swept = Optional.empty();
    }

    private EventStore.Found readAll(EventStore.Query query) {
        Optional<EventStore.Found> found = Optional.empty();
        if (form.looksAtAll(form.now())) {
            found = look(query);
        } else if (form.glances(form.now(), query.inFlight().size())) {
            found = glance(query);
        }
        return found.orElseGet(() -> step(query));
    }

    private EventStore.Found step(EventStore.Query query) {
        long before = form.now();
        EventStore.Found found =
                behindSweep(query).orElseGet(() -> run(query, sql.read, 0).found());
        List<Delivery> deliveries = found.deliveries();
        form.stepped(form.now() - before, deliveries.size());
        if (query.orPart() && !areOfOneStream(deliveries)) {
            form.sawOthers(form.now());
        } else if (query.orPart()) {
            form.sawBacklog(backlog(deliveries, query), form.now());
        }
        return found;
    }

    /** All shards of what is being swept; empty: that is not known so well that steps could begin behind it. */
    private Optional<EventStore.Found> behindSweep(EventStore.Query query) {
        if (!query.orPart() || form.backlog().isEmpty()) {
            return Optional.empty();
        }
        EventStore.Query ofOne = query.sweeping(form.backlog().get().stream(), query.rows());
        return Swept.next(swept, ofOne, form.front(), form.now())
                .map(next -> part(run(ofOne, sql.readBehindSweep, next).found()));
    }

    /** Empty: there is none, or a sweep would bring less than half of it. */
    private static Optional<ReadForm.Backlog> backlog(List<Delivery> deliveries, EventStore.Query query) {
        if (!isWorthASweep(deliveries, query)) {
            return Optional.empty();
        }
        long largest = deliveries.stream()
                .mapToLong(each -> each.event().payloadSize())
                .max()
                .orElse(0);
        ReadForm.Backlog backlog = new ReadForm.Backlog(deliveries.get(0).event().stream(), largest);
        return Optional.of(backlog).filter(it -> it.rows(query) * 2 >= deliveries.size());
    }

    /** What there is of other streams, if it is their turn; empty: nothing. */
    private Optional<EventStore.Found> others(EventStore.Query query, ReadForm.Backlog backlog) {
        if (!form.isTurnOfOthers(form.now())) {
            return Optional.empty();
        }
        EventStore.Found found =
                run(query.without(backlog.stream()), sql.read, 0).found();
        if (found.deliveries().isEmpty()) {
            form.sawNoOthers(form.now());
            return Optional.empty();
        }
        form.sawOthers(form.now());
        return Optional.of(part(found));
    }

    /** Empty: steps are needed, to find out what there is or to give others their turn. */
    private Optional<EventStore.Found> sweep(EventStore.Query whole, ReadForm.Backlog backlog) {
        EventStore.Query query = whole.sweeping(backlog.stream(), backlog.rows(whole));
        long share = query.bytes() / query.rows();
        Front front = form.front();
        long before = form.now();
        long last = Swept.next(swept, query, front, before).orElse(0L);
        if (front.asks(before) || (front.sure() < last + WIDE * whole.rows() && front.asksOften(before))) {
            ask(front);
        }
        // Not before: perhaps another server has answered.
        long next = Swept.next(swept, query, front, before).orElse(0L);
        long sure = front.sure();
        Optional<Swept> reached = Optional.empty();
        List<Delivery> deliveries = List.of();
        boolean spread = false;
        try {
            Look look = run(query.from(next), sql.sweep, next, query.rows(), WIDE * whole.rows(), share, next);
            deliveries = look.found().deliveries();
            spread = areSpread(deliveries);
            if (look.isWhole() && deliveries.size() < query.rows()) {
                form.sweptToTheEnd(form.now());
            }
            if (look.declined() || deliveries.isEmpty() || !spread) {
                return Optional.empty();
            }
            long greatest = deliveries.get(deliveries.size() - 1).id();
            reached = Swept.after(swept, query, front, greatest, sure, before);
            return Optional.of(part(look.found()));
        } finally {
            // What it does not hand out is to be found again.
            swept = reached;
            boolean good = spread && isWorthASweep(deliveries, query);
            form.swept(form.now() - before, deliveries.size(), good, form.now());
        }
    }

    private static EventStore.Found part(EventStore.Found found) {
        return new EventStore.Found(
                found.deliveries(), found.owned(), found.holding(), found.newStreams(), found.dueInMicros(), true);
    }

    private static boolean isWorthASweep(List<Delivery> deliveries, EventStore.Query query) {
        return deliveries.size() * 2 >= query.rows() || Caution.bytes(deliveries) >= query.bytes();
    }

    /** Others would wait behind a backlog that is swept, and get their turn by steps. */
    private static boolean areOfOneStream(List<Delivery> deliveries) {
        String first = deliveries.isEmpty() ? "" : deliveries.get(0).event().stream();
        return deliveries.stream().allMatch(each -> each.event().stream().equals(first));
    }

    /** Whether no shard has far more of them than others: its keys would take their places. */
    private static boolean areSpread(List<Delivery> deliveries) {
        int[] rows = new int[Ownership.SHARDS];
        deliveries.forEach(each -> rows[ShardClaim.of(each).shard()]++);
        return Arrays.stream(rows).allMatch(each -> each <= Math.max(FEW, deliveries.size() / 8));
    }

    /** Empty: there is more to be seen than a glance can tell. */
    private Optional<EventStore.Found> glance(EventStore.Query query) {
        long before = form.now();
        Look look = run(query, sql.glance, 0, query.depth(), query.bytes());
        if (look.declined()) {
            form.sawMore(form.now());
            return Optional.empty();
        }
        EventStore.Found found = look.found();
        form.glanced(form.now() - before, found.deliveries().size());
        return Optional.of(new EventStore.Found(
                found.deliveries(), query.shards().keySet(), Set.of(), found.newStreams(), Optional.empty(), false));
    }

    /** Empty: there are too many to look at all of them. */
    private Optional<EventStore.Found> look(EventStore.Query query) {
        Front front = form.front();
        if (front.asks(form.now())) {
            ask(front);
        }
        long before = form.now();
        long from = front.id(before);
        Look look = run(query, sql.readFew, from);
        if (look.declined()) {
            form.foundMany(form.now());
            return Optional.empty();
        }
        long after = form.now();
        form.looked(after - before, look.found().deliveries().size(), from == 0);
        saw(look, after);
        return Optional.of(look.found());
    }

    private void saw(Look look, long now) {
        List<Delivery> brought = look.found().deliveries();
        long greatest = brought.isEmpty() ? 0 : brought.get(brought.size() - 1).id();
        look.least().ifPresent(least -> form.front().looked(least, greatest, now));
    }

    /** Without an answer a look begins where the last one did: what is sure remains so. */
    private void ask(Front front) {
        try {
            front.hear(writing(), form.now());
        } catch (FeedException e) {
            front.notTold(form.now());
            log.debug("It is not known who is writing", e);
        }
    }

    private Front.Writing writing() {
        return session.run("see who is writing", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.writing);
                    ResultSet row = statement.executeQuery()) {
                row.next();
                Set<String> transactions =
                        new HashSet<>(Arrays.asList((String[]) row.getArray(2).getArray()));
                return new Front.Writing(row.getLong(1), transactions, row.getLong(3));
            }
        });
    }

    /**
     * What a read brought.
     *
     * @param declined it brought nothing, since this form of it is not for what is there
     * @param isCut what is from a certain id on was left out, since it is too large
     * @param least the smallest id from the front on, if the server is the one that the front was found on
     */
    private record Look(EventStore.Found found, boolean declined, boolean isCut, Optional<Long> least) {
        /** Whether only its limits can have left something out. */
        boolean isWhole() {
            return !declined && !isCut;
        }
    }

    private Look run(EventStore.Query query, String text, long from) {
        return run(query, text, from, query.rows(), query.depth(), query.depth(), query.rows(), query.bytes());
    }

    private Look run(EventStore.Query query, String text, long from, long... limits) {
        long before = System.nanoTime();
        return session.run("read events", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                statement.setArray(1, EventStatements.array(connection, "int8", epochs(query.shards())));
                statement.setInt(2, query.shards().keySet().iterator().next());
                statement.setString(3, settings.group());
                statement.setLong(4, ownership.member());
                statement.setBoolean(5, settings.adoptsStreams());
                statement.setArray(6, EventStatements.array(connection, "text", query.without()));
                statement.setString(7, query.only());
                statement.setArray(8, EventStatements.array(connection, "int8", query.inFlight()));
                statement.setLong(9, form.front().server());
                statement.setLong(10, from);
                int next = 11;
                for (long limit : limits) {
                    statement.setLong(next++, limit);
                }
                try (ResultSet rows = statement.executeQuery()) {
                    return found(connection, rows, query, before);
                }
            }
        });
    }

    private void freeLeases(Connection connection, Set<Integer> shards) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql.freeLeases)) {
            statement.setArray(1, EventStatements.array(connection, "int2", shards));
            statement.executeUpdate();
        }
    }

    private Look found(Connection connection, ResultSet rows, EventStore.Query query, long before) throws SQLException {
        List<Delivery> deliveries = new ArrayList<>();
        Set<Integer> owned = new HashSet<>();
        Set<Integer> holding = new HashSet<>();
        Set<String> newStreams = new HashSet<>();
        Optional<Long> due = Optional.empty();
        Set<Integer> leasesRanOut = new HashSet<>();
        boolean declined = false;
        long end = Long.MAX_VALUE;
        Optional<Long> least = Optional.empty();
        EventColumns columns = new EventColumns(rows, orEmpty(query.only()));
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
                declined = rows.getBoolean(26);
                least = Optional.ofNullable(rows.getObject(27, Long.class));
            } else if (rows.getBoolean(26)) {
                end = Math.min(end, id);
            } else {
                int shard = rows.getInt(5);
                // No other epoch than the one asked for has been read.
                long epoch = Objects.requireNonNull(query.shards().get(shard));
                ShardClaim claim = new ShardClaim(shard, epoch, rows.getBoolean(17), rows.getInt(6), ownership);
                Delivery delivery = new Delivery(id, rows.getInt(3), rows.getInt(4), columns.event(), claim);
                deliveries.add(Expiry.of(delivery, rows, 25, before));
                if (rows.getBoolean(24)) {
                    leasesRanOut.add(claim.shard());
                }
                if (rows.getBoolean(18)) {
                    newStreams.add(delivery.event().stream());
                }
            }
        }
        // The statement promises which rows, not their order.
        deliveries.sort(Comparator.comparingLong(Delivery::id));
        long last = end;
        deliveries.removeIf(delivery -> delivery.id() > last);
        if (!leasesRanOut.isEmpty()) {
            freeLeases(connection, leasesRanOut);
            // Also those that were not brought: they are pending now.
            forgetSwept();
        }
        EventStore.Found found = new EventStore.Found(deliveries, owned, holding, newStreams, due, false);
        return new Look(found, declined, end < Long.MAX_VALUE, least);
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
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
}
