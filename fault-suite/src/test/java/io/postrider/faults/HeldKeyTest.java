// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T18: a key fails for ever, with a long backlog behind its first event. */
@Tag("T18")
@Tag("sample")
@DisplayName("A key fails for ever with 100,000 events behind it")
class HeldKeyTest {
    private static final String BAD = "bad";
    private static final int BACKLOG = 100_000;
    private static final int OTHERS = 20_000;

    @Test
    void aKeyThatFailsForEverHoldsOnlyItself() {
        try (Rig rig = Rig.on(SharedServers.get(), "T18 held key")) {
            append(rig, "'" + BAD + "'", BACKLOG);
            append(rig, "'key-' || n % 500", OTHERS);
            rig.execute("ANALYZE outbox_event");
            rig.fault("a key fails for ever with " + BACKLOG + " events behind it");
            AtomicBoolean mended = new AtomicBoolean();
            Publisher publisher = event -> event.key().orElse("").equals(BAD) && !mended.get()
                    ? CompletableFuture.failedFuture(new RetryableFailureException("BAD", "Always fails", null))
                    : CompletableFuture.completedFuture(null);
            Relay relay = rig.closing(Relay.from(OrderedFeed.of(RelayProcess.source(rig.relay("relay"))))
                    .to(publisher)
                    .retry(RetryPolicy.delays(Duration.ofMillis(300)).attempts(1_000_000))
                    .build());
            long start = System.nanoTime();
            relay.start();
            Rig.await("all others are settled", () -> relay.publishedCount() == OTHERS);
            rig.figure("others settled in", Duration.ofNanos(System.nanoTime() - start));
            Rig.await("the key has failed again", () -> rig.number("SELECT count(*) FROM outbox_attempt") > 2);

            assertThat(rig.number("SELECT count(*) FROM outbox_event WHERE event_key = '" + BAD + "'"))
                    .isEqualTo(BACKLOG);
            assertThat(rig.number("SELECT count(DISTINCT event_row) FROM outbox_attempt"))
                    .as("only the first of the key was tried")
                    .isEqualTo(1);
            mended.set(true);
            long mendedAt = System.nanoTime();
            Rig.await("the key flows again", () -> relay.publishedCount() == OTHERS + BACKLOG);
            rig.figure("held ones settled in", Duration.ofNanos(System.nanoTime() - mendedAt));
            rig.passed(relay.publishedCount() + " delivered · 0 lost");
        }
    }

    private static void append(Rig rig, String key, int count) {
        rig.write("INSERT INTO outbox_event (stream, event_key, event_type, payload) SELECT 's', " + key
                + ", 't', '\\x00' FROM generate_series(1, " + count + ") n");
    }
}
