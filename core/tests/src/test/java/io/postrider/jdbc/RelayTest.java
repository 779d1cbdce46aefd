// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RelayTest {
    @Test
    void appendedEventsAreDeliveredInOrderAndLeaveTheTable() {
        TestDatabase database = TestDatabase.migrated();
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        Publisher publisher = event -> {
            seen.add(event.key().orElse("") + new String(event.payload(), UTF_8));
            return CompletableFuture.completedFuture(null);
        };
        try (Relay relay = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(publisher)
                .wokenBy(outbox.bell())
                .build()) {
            relay.start();
            for (int i = 0; i < 100; i++) {
                int n = i;
                outbox.transact(tx -> tx.append(
                        OutboxEvent.of("s", "T").key("k" + n % 3).json("" + n).build()));
            }
            await().atMost(Duration.ofSeconds(20)).until(() -> relay.publishedCount() == 100);
        }
        assertThat(seen).hasSize(100);
        assertThat(database.number("select count(*) from outbox_event")).isZero();
        assertThat(database.number("select count(*) from outbox_history")).isEqualTo(100);
        assertThat(database.number("select count(*) from outbox_relay")).isZero();
    }
}
