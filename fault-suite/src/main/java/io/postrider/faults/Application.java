// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.relay.Bell;
import io.postrider.testkit.CommitAppender;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** The writers of an application whose events are sent at their commit: most read committed, some repeatable. */
final class Application {
    private static final int KEYS = 200;

    private final List<LedgerWriters.Builder> writers;
    private final Bell bell;
    private List<LedgerWriters> running = List.of();

    Application(RelaySetup.Writing writing, Trap trap) {
        PGSimpleDataSource committed = source(writing.url());
        PGSimpleDataSource repeatable = source(writing.url());
        repeatable.setOptions("-c default_transaction_isolation=repeatable\\ read");
        JdbcOutbox outbox = JdbcOutbox.of(committed);
        this.bell = outbox.bell();
        this.writers = List.of(
                writers(committed, outbox, writing, trap).rate(writing.rate()).seed(writing.seed()),
                writers(repeatable, outbox, writing, trap)
                        .rate(Math.max(1, writing.rate() / 10))
                        .seed(writing.seed() + 1)
                        .threads(1));
    }

    Bell bell() {
        return bell;
    }

    void start() {
        running = writers.stream().map(LedgerWriters.Builder::start).toList();
    }

    void stop() {
        running.forEach(LedgerWriters::stop);
    }

    private static LedgerWriters.Builder writers(
            PGSimpleDataSource source, JdbcOutbox outbox, RelaySetup.Writing writing, Trap trap) {
        return Ledger.open(source).writers(new TrappedAppender(new CommitAppender(outbox), trap)).stream(
                        writing.stream())
                .keys(KEYS)
                .threads(3)
                .largeTransactions(0.005, 50);
    }

    private static PGSimpleDataSource source(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return source;
    }

    /** Passes a trap between the commit and the hand-over. */
    private record TrappedAppender(CommitAppender appender, Trap trap) implements Ledger.Appender {
        @Override
        public void append(Connection connection, OutboxEvent event) {
            appender.append(connection, event);
        }

        @Override
        public void committed(Connection connection) {
            try {
                long nth = trap.enter(Place.HAND_OVER);
                appender.committed(connection);
                trap.left(Place.HAND_OVER, nth);
            } catch (SQLException e) {
                throw new IllegalStateException("Only statements fail with this", e);
            }
        }

        @Override
        public void forgotten(Connection connection) {
            appender.forgotten(connection);
        }
    }
}
