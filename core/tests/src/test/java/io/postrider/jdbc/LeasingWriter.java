// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.internal.LeaseSql;
import io.postrider.relay.Bell;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** A process that writes, and has a relay without shards that sends at the commit. */
final class LeasingWriter implements AutoCloseable {
    final Party relay;
    final JdbcOutbox outbox;
    final LeaseStatements leases;

    LeasingWriter(TestDatabase database, String name, Duration lease) {
        this(database, name, "default", lease);
    }

    LeasingWriter(TestDatabase database, String name, String group, Duration lease) {
        outbox = JdbcOutbox.of(database.dataSource()).withLease(lease);
        relay = Party.joining(database, name, group);
        outbox.bell().onRing(new Bell.Hearer() {
            @Override
            public void rung() {}

            @Override
            public OptionalLong lessee(OutboxEvent event) {
                return OptionalLong.of(relay.member());
            }
        });
        Session session = new Session(database.dataSource(), Duration.ofSeconds(30));
        leases = new LeaseStatements(
                session,
                new LeaseSql(TableNames.ofDefaults()),
                new EventStatements(session, Party.SQL, Party.settings(group), name, relay.ownership),
                relay.ownership,
                System::nanoTime);
    }

    OutboxEvent append(String key) {
        OutboxEvent event = OutboxEvent.of("s", "T").key(key).json("{}").build();
        outbox.transact(tx -> tx.append(event));
        return event;
    }

    List<Long> sendable(OutboxEvent... events) {
        return Party.ids(read(events).sendable());
    }

    LeaseStore.Found read(OutboxEvent... events) {
        List<UUID> ids = Arrays.stream(events).map(OutboxEvent::id).toList();
        return leases.read(ids, Set.of());
    }

    @Override
    public void close() {
        relay.close();
        leases.close();
    }
}
