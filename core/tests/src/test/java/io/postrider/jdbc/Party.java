// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.Sql;
import io.postrider.jdbc.ShardStore.Seen;
import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.Delivery;
import io.postrider.relay.Membership;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** A relay without its threads: a test runs its statements one by one, and decides in which session. */
final class Party implements AutoCloseable {
    static final Sql SQL = new Sql(TableNames.ofDefaults());
    /** After steps that took so long for one row, no look seems better, and any sweep. */
    private static final long CHEAP_AT_ALL_AND_DEAR_FOR_ONE =
            Duration.ofMillis(19).toNanos();

    static final Membership.Report QUIET = new Membership.Report(0, 0, Set.of());

    private final String name;
    private final OrderedSettings settings;
    private final long member;
    final Ownership ownership;
    final ShardStatements shards;
    final EventStatements events;
    private final AtomicLong elapsed = new AtomicLong();
    private Form reads = Form.ANY;
    private ReadForm.Backlog backlog = new ReadForm.Backlog("s", 0);
    private long readsSince = System.nanoTime();
    private final ReadForm form = new ReadForm(this::now);

    /** Which form reads have; {@code ANY}: as it comes; {@code UNTIMED}: the same, however long they take. */
    enum Form {
        ANY,
        UNTIMED,
        GLANCE,
        STEPS,
        SWEEP,
        LOOK
    }

    private Party(String name, OrderedSettings settings, DataSource source, Ownership ownership, long member) {
        this.name = name;
        this.settings = settings;
        this.ownership = ownership;
        this.shards = new ShardStatements(new Session(source, Duration.ofSeconds(30)), SQL, settings);
        this.events =
                new EventStatements(new Session(source, Duration.ofSeconds(30)), SQL, settings, name, ownership, form);
        this.member = member == 0 ? shards.join(name, Wants.SHARDS) : member;
        ownership.joined(this.member);
    }

    /** Joins the default group, without any shard. */
    static Party joining(TestDatabase database, String name) {
        return joining(database, name, "default");
    }

    static Party joining(TestDatabase database, String name, String group) {
        OrderedSettings settings = settings(group);
        return new Party(name, settings, database.dataSource(), new Ownership(), 0);
    }

    /** Joins the default group and owns every shard. */
    static Party owning(TestDatabase database, String name) {
        return owning(database, name, "default");
    }

    static Party owning(TestDatabase database, String name, String group) {
        Party party = joining(database, name, group);
        party.ownership.add(party.takeAll());
        return party;
    }

    /** The leases are long: no test waits for the end of one. */
    static OrderedSettings settings(String group) {
        return new OrderedSettings(group, List.of(), Duration.ofMinutes(5), Duration.ofSeconds(30));
    }

    /** The same relay, with its statements in this transaction. */
    Party in(OpenTransaction transaction) {
        Ownership same = new Ownership();
        Party party = new Party(name, settings, transaction.dataSource(), same, member);
        same.add(ownership.all());
        party.reads(reads);
        return party;
    }

    long member() {
        return member;
    }

    List<Seen> survey() {
        return shards.tick(member, Wants.SHARDS, QUIET).shards();
    }

    Map<Integer, Long> takeAll() {
        return shards.take(member, survey()).epochs();
    }

    List<Delivery> read() {
        return read(Set.of()).deliveries();
    }

    EventStore.Found read(Set<Long> inFlight) {
        return read(query(ownership.all(), inFlight, 1000, 1000, Long.MAX_VALUE));
    }

    EventStore.Found read(EventStore.Query query) {
        switch (reads) {
            case GLANCE -> {
                form.stepped(0, 0);
                form.sawBacklog(Optional.empty(), form.now());
                elapse(Duration.ofMinutes(1));
            }
            case STEPS -> {
                form.stepped(0, 0);
                form.sawBacklog(Optional.empty(), form.now());
                form.sawMore(form.now());
            }
            case UNTIMED -> form.stepped(CHEAP_AT_ALL_AND_DEAR_FOR_ONE, 1);
            case SWEEP -> {
                form.stepped(CHEAP_AT_ALL_AND_DEAR_FOR_ONE, 1);
                form.sawMore(form.now());
                elapse(Duration.ofMinutes(1));
                form.sawBacklog(Optional.of(backlog), form.now());
                form.sawNoOthers(form.now());
            }
            case LOOK -> form.stepped(Duration.ofMinutes(1).toNanos(), 0);
            case ANY -> {}
        }
        return events.read(query);
    }

    /** From now on each read is as if the one before had led to this form. */
    void reads(Form form) {
        reads = form;
        readsSince = System.nanoTime();
    }

    /** As if steps had found more than a read brings, and had taken so long for it. */
    void sawBacklog(Duration took) {
        form.stepped(took.toNanos(), 100_000);
        form.sawBacklog(Optional.of(backlog), form.now());
        form.sawNoOthers(form.now());
    }

    /** From now on each read is a sweep of this, if it can be. */
    void sweeps(ReadForm.Backlog backlog) {
        this.backlog = backlog;
        reads(Form.SWEEP);
    }

    private long now() {
        boolean timeStandsStill = reads == Form.UNTIMED || reads == Form.SWEEP;
        return (timeStandsStill ? readsSince : System.nanoTime()) + elapsed.get();
    }

    /** Whether the last read was a glance that sufficed. */
    boolean saysPlain() {
        form.stepped(0, 0);
        return form.glances(form.now() - Duration.ofHours(1).toNanos(), 0);
    }

    /** Whether the next read will be a sweep as well. */
    boolean sweepsOn() {
        return form.sweep(form.now()).isPresent();
    }

    void lookAtAll() {
        reads(Form.LOOK);
    }

    /** As if so much time had passed, for whether reads are dear. */
    void elapse(Duration time) {
        elapsed.addAndGet(time.toNanos());
    }

    Front front() {
        return form.front();
    }

    static EventStore.Query query(Map<Integer, Long> shards, Set<Long> inFlight, int depth, int rows, long bytes) {
        return new EventStore.Query(new LinkedHashMap<>(shards), inFlight, depth, rows, bytes, Set.of(), null, true);
    }

    List<Long> readIds(Long... inFlight) {
        return ids(read(Set.copyOf(Arrays.asList(inFlight))).deliveries());
    }

    static List<Long> ids(List<Delivery> deliveries) {
        return deliveries.stream().map(Delivery::id).toList();
    }

    Set<Long> retry(List<Delivery> deliveries, Duration delay) {
        return verdict(deliveries, new Outcome.Retry(delay, "BUSY", "busy"));
    }

    Set<Long> dead(List<Delivery> deliveries) {
        return verdict(deliveries, new Outcome.Dead("BAD", "bad"));
    }

    private Set<Long> verdict(List<Delivery> deliveries, Outcome.Failed outcome) {
        return events.verdict(
                        deliveries.stream().map(d -> new Verdict(d, outcome)).toList())
                .written();
    }

    @Override
    public void close() {
        shards.close();
        events.close();
    }
}
