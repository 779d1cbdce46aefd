// SPDX-License-Identifier: Apache-2.0
package io.postrider.postgres;

import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Carries the ring of a bell to other processes, by NOTIFY and LISTEN: a commit in one of them wakes the relays in all.
 *
 * <pre>{@code
 * CommitSignal signal = CommitSignal.of(dataSource, outbox.bell()).start();
 * }</pre>
 *
 * <p>The notification is sent after the commit, on a connection of its own and at most once in 2 ms: inside the writers'
 * transactions it would make their commits wait for each other. It is a hint and may be lost; polling remains the net.
 * Events that are sent at their commit need none. Keeps one connection for each direction. Thread-safe.
 */
public final class CommitSignal implements AutoCloseable {
    private final Optional<Sender> sender;
    private final Optional<Receiver> receiver;
    private final Bell bell;
    private Runnable deafen = () -> {};

    private CommitSignal(Builder builder) {
        String channel = "postrider" + (builder.tables.schema().isEmpty() ? "" : "_" + builder.tables.schema());
        bell = builder.bell;
        sender = builder.sends ? Optional.of(new Sender(builder.dataSource, channel)) : Optional.empty();
        receiver = builder.receives
                ? Optional.of(new Receiver(
                        builder.dataSource,
                        channel,
                        bell,
                        () -> sender.map(Sender::backend).orElse(0)))
                : Optional.empty();
    }

    /**
     * In both directions.
     *
     * @param dataSource must give connections to the server itself: through a pooler that shares sessions, nothing is heard
     * @param bell rung by the outbox of this process, and heard by its relays
     */
    public static Builder of(DataSource dataSource, Bell bell) {
        return new Builder(dataSource, bell);
    }

    private void begin() {
        sender.ifPresent(Thread::start);
        receiver.ifPresent(Thread::start);
        sender.ifPresent(each -> deafen = bell.onRing(new Bell.Hearer() {
            @Override
            public void rung() {
                // What was heard from elsewhere is not told again.
                if (receiver.isEmpty() || Thread.currentThread() != receiver.get()) {
                    each.send();
                }
            }

            @Override
            public void handedOver(List<Bell.Handed> events) {
                // Sent by this process; the bell is rung for what is not.
            }
        }));
    }

    /** Ends both directions; what was rung before is still sent if the database answers at once. */
    @Override
    public void close() {
        deafen.run();
        sender.ifPresent(Sender::end);
        receiver.ifPresent(Receiver::end);
    }

    /** Collects what differs from the defaults; not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private final Bell bell;
        private TableNames tables = TableNames.ofDefaults();
        private boolean sends = true;
        private boolean receives = true;

        private Builder(DataSource dataSource, Bell bell) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
            this.bell = Objects.requireNonNull(bell, "bell");
        }

        /** Tables in a schema of their own have a channel of their own; both sides must be told. */
        public Builder tables(TableNames tables) {
            this.tables = Objects.requireNonNull(tables, "tables");
            return this;
        }

        /** For a process that has no relay. */
        public Builder onlySends() {
            this.receives = false;
            return this;
        }

        /** For a process that writes no events. */
        public Builder onlyReceives() {
            this.sends = false;
            return this;
        }

        public CommitSignal start() {
            if (!sends && !receives) {
                throw new IllegalArgumentException(
                        "onlySends() and onlyReceives() leave nothing to do. Call one of them.");
            }
            CommitSignal signal = new CommitSignal(this);
            signal.begin();
            return signal;
        }
    }
}
