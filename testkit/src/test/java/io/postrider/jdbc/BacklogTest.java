// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxException;
import io.postrider.ops.Actor;
import io.postrider.ops.Backlog;
import io.postrider.ops.Streams;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Relay;
import io.postrider.testkit.RecordingPublisher;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BacklogTest {
    private final TestDatabase database = TestDatabase.migrated();
    private final Backlog backlog = Backlog.of(database.dataSource());

    @Test
    void countsWhatIsPendingAndDeadByStream() {
        assertThat(backlog.streams()).isEmpty();
        database.event("orders", "a");
        database.event("orders", "b");
        database.event("clicks", null);
        database.execute("UPDATE outbox_event SET created_at = clock_timestamp() - interval '90 seconds'"
                + " WHERE event_key = 'a'");
        database.execute("UPDATE outbox_event SET status = 'DEAD' WHERE stream = 'clicks'");

        List<Backlog.OfStream> streams = backlog.streams();
        assertThat(streams).extracting(Backlog.OfStream::stream).containsExactly("clicks", "orders");
        assertThat(streams.get(0)).isEqualTo(new Backlog.OfStream("clicks", 0, 1, Duration.ZERO, false));
        assertThat(streams.get(1).pending()).isEqualTo(2);
        assertThat(streams.get(1).dead()).isZero();
        assertThat(streams.get(1).oldest()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(150));
    }

    @Test
    void showsRelaysWithTheirShareAndStreamsThatArePaused() {
        RecordingPublisher publisher = new RecordingPublisher();
        publisher.failWhen(event -> true, new PermanentFailureException("NO", "never", null));
        database.event("orders", "a");
        try (Relay relay = Relay.from(OrderedFeed.of(database.dataSource()))
                .to(publisher)
                .name("north")
                .build()) {
            relay.start();
            await().untilAsserted(() -> assertThat(backlog.relays())
                    .singleElement()
                    .satisfies(each -> {
                        assertThat(each.name()).isEqualTo("north");
                        assertThat(each.alive()).isTrue();
                        assertThat(each.paused()).isFalse();
                        assertThat(each.shards()).isEqualTo(256);
                    }));
            await().untilAsserted(
                            () -> assertThat(backlog.streams().get(0).dead()).isEqualTo(1));
            Streams.of(database.dataSource()).pause("orders", new Actor("kim", "a test"));
            assertThat(backlog.streams().get(0).paused()).isTrue();
        }
        assertThat(backlog.relays()).isEmpty();
    }

    @Test
    void saysWhatCouldNotBeDone() {
        Backlog elsewhere = Backlog.of(TestDatabase.empty().dataSource());
        assertThatThrownBy(elsewhere::streams)
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith("Could not count the undelivered events: ");
    }
}
