// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.internal.CompetingSql;
import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.Delivery;
import io.postrider.relay.Outcome;
import io.postrider.relay.Verdict;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/** A competing worker without its threads: a test runs its statements one by one, and decides in which session. */
final class Claimant implements AutoCloseable {
    static final String STREAM = "work";
    static final Duration LEASE = Duration.ofMinutes(5);
    private static final CompetingSql SQL = new CompetingSql(TableNames.ofDefaults());

    private final String name;
    private final long member;
    final MemberStatements place;
    final ClaimStatements events;

    private Claimant(String name, DataSource source, long member) {
        this.name = name;
        CompetingSettings settings = new CompetingSettings(
                "default", List.of(StreamSettings.of(STREAM)), Duration.ofMinutes(5), Duration.ofSeconds(30));
        this.place = new MemberStatements(session(source), Party.SQL, SQL, settings);
        Session session = session(source);
        this.events = new ClaimStatements(session, SQL, new Settling(session, Party.SQL, name), name, System::nanoTime);
        this.member = member == 0 ? place.join(name, Wants.CLAIMS) : member;
    }

    private static Session session(DataSource source) {
        return new Session(source, Duration.ofSeconds(30));
    }

    /** Declares the stream and joins. */
    static Claimant joining(TestDatabase database, String name) {
        Claimant claimant = new Claimant(name, database.dataSource(), 0);
        claimant.place.declare();
        return claimant;
    }

    /** The same worker, with its statements in this transaction. */
    Claimant in(OpenTransaction transaction) {
        return new Claimant(name, transaction.dataSource(), member);
    }

    long member() {
        return member;
    }

    ClaimStatements.Found find(int rows, long bytes) {
        return find(rows, bytes, LeftBehind.ONCE);
    }

    ClaimStatements.Found find(int rows, long bytes, LeftBehind suspects) {
        return events.claim(new ClaimStatements.Query(
                member,
                "default",
                Map.of(STREAM, rows),
                rows,
                bytes,
                LEASE,
                List.of(),
                suspects,
                Spans.round(0, rows)));
    }

    List<Delivery> claim(int rows) {
        return find(rows, Long.MAX_VALUE).leased().stream()
                .map(ClaimStatements.Leased::delivery)
                .toList();
    }

    List<Delivery> claim() {
        return claim(1000);
    }

    Set<Long> retry(List<Delivery> deliveries) {
        return judge(deliveries, new Outcome.Retry(Duration.ofHours(1), "BUSY", "busy"));
    }

    Set<Long> dead(List<Delivery> deliveries) {
        return judge(deliveries, new Outcome.Dead("BAD", "bad"));
    }

    private Set<Long> judge(List<Delivery> deliveries, Outcome.Failed outcome) {
        return events.verdict(
                member, deliveries.stream().map(d -> new Verdict(d, outcome)).toList());
    }

    Set<Long> extend(List<Delivery> deliveries) {
        return place.extend(member, Duration.ofHours(1), deliveries);
    }

    void release(List<Delivery> deliveries) {
        events.release(member, deliveries);
    }

    @Override
    public void close() {
        place.close();
        events.close();
    }
}
