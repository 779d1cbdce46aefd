// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Events that are appended at a steady rate, ten in a transaction, and delivered to Kafka while something else is measured. */
final class Traffic implements AutoCloseable {
    private static final int AT_ONCE = 10;
    private static final byte[] PAYLOAD = new byte[512];

    private final JdbcOutbox outbox;
    private final Relay relay;
    private final AtomicLong appended = new AtomicLong();
    private final Thread writer;
    private volatile boolean ending;

    private Traffic(Rig rig, int perSecond) {
        outbox = JdbcOutbox.of(rig.dataSource());
        relay = Relays.build(rig.dataSource(), rig.bootstrapServers(), History.KEEP)
                .wokenBy(outbox.bell())
                .build();
        writer = new Thread(() -> write(rig, TimeUnit.SECONDS.toNanos(AT_ONCE) / perSecond), "traffic");
    }

    static Traffic start(Rig rig, int perSecond) {
        Traffic traffic = new Traffic(rig, perSecond);
        traffic.relay.start();
        traffic.writer.start();
        return traffic;
    }

    long appended() {
        return appended.get();
    }

    long published() {
        return relay.publishedCount();
    }

    /** A writer that was late catches up: the rate is what is offered, whatever the database takes at a time. */
    private void write(Rig rig, long apart) {
        try (Connection connection = rig.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            long next = System.nanoTime();
            while (!ending) {
                JdbcOutbox.Joined joined = outbox.join(connection);
                for (int i = 0; i < AT_ONCE; i++) {
                    joined.append(OutboxEvent.of(Rig.TOPIC, "OrderPlaced")
                            .key("order-" + (appended.get() + i) % 1_000)
                            .payload(PAYLOAD)
                            .build());
                }
                connection.commit();
                joined.committed();
                appended.addAndGet(AT_ONCE);
                next += apart;
                LockSupport.parkNanos(next - System.nanoTime());
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Events could not be appended", e);
        }
    }

    @Override
    public void close() {
        ending = true;
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        relay.close();
    }
}
