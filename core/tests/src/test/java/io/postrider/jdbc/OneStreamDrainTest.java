// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.testkit.RecordingPublisher;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OneStreamDrainTest {
    private static final TestDatabase DATABASE = TestDatabase.migrated();

    @BeforeEach
    void empty() {
        DATABASE.execute("TRUNCATE outbox_event, outbox_stream");
    }

    @Test
    void theOthersAreLeftAsTheyAre() {
        DATABASE.execute(
                "INSERT INTO outbox_event (stream, event_key, event_type)"
                        + " SELECT CASE n % 2 WHEN 0 THEN 'orders' ELSE 'invoices' END, n % 7, 'T' FROM generate_series(1, 100) n");
        RecordingPublisher published = new RecordingPublisher();
        DrainResult result = Relay.from(OrderedFeed.builder(DATABASE.dataSource())
                        .onlyStream("orders")
                        .build())
                .to(published)
                .build()
                .drain(Long.MAX_VALUE);
        assertThat(result).isEqualTo(new DrainResult(50, 0, 0, true));
        assertThat(published.events()).extracting(OutboxEvent::stream).containsOnly("orders");
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event WHERE stream = 'invoices'"))
                .isEqualTo(50);
    }

    @Test
    void itEndsAlsoWhereTheLastOwnersDied() {
        DATABASE.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT CASE n % 2 WHEN 0 THEN 'orders' ELSE 'invoices' END, n, 'T' FROM generate_series(1, 20) n");
        DATABASE.execute("INSERT INTO outbox_shard (relay_group, shard, unclean, newest)"
                + " SELECT 'default', n, 3, (SELECT max(id) FROM outbox_event) FROM generate_series(0, 255) n"
                + " ON CONFLICT (relay_group, shard)"
                + " DO UPDATE SET unclean = excluded.unclean, newest = excluded.newest");
        AtomicInteger published = new AtomicInteger();
        Publisher appending = event -> {
            if (published.getAndIncrement() == 0) {
                // Newer than anything that they can have died of.
                DATABASE.execute(
                        "INSERT INTO outbox_event (stream, event_key, event_type) VALUES ('orders', '2', 'T')");
            }
            return CompletableFuture.completedFuture(null);
        };
        DrainResult result = Relay.from(OrderedFeed.builder(DATABASE.dataSource())
                        .onlyStream("orders")
                        .build())
                .to(appending)
                .build()
                .drain(Long.MAX_VALUE, Duration.ofSeconds(60));
        assertThat(result).isEqualTo(new DrainResult(11, 0, 0, true));
        assertThat(DATABASE.number("SELECT count(*) FROM outbox_event")).isEqualTo(10);
    }

    @Test
    void aRelayThatGoesOnServesAllItsStreams() {
        try (Relay relay = Relay.from(OrderedFeed.builder(DATABASE.dataSource())
                        .onlyStream("orders")
                        .build())
                .to(new RecordingPublisher())
                .build()) {
            assertThatThrownBy(relay::start)
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("only a drain can be limited to one stream");
        }
    }

    @Test
    void aGroupMustHaveAStream() {
        OrderedFeed billing =
                OrderedFeed.builder(DATABASE.dataSource()).group("billing").build();
        assertThatThrownBy(() ->
                        Relay.from(billing).to(new RecordingPublisher()).build().drain(1))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("Relay group 'billing' has no streams");
        DATABASE.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('invoices', 'billing')");
        DATABASE.execute("INSERT INTO outbox_event (stream, event_type) VALUES ('invoices', 'T')");
        assertThat(Relay.from(billing)
                        .to(new RecordingPublisher())
                        .build()
                        .drain(Long.MAX_VALUE)
                        .published())
                .isOne();
    }
}
