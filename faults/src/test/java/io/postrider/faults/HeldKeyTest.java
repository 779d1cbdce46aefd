// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.RetryableFailureException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** F10: a key fails for ever, with a long backlog behind its first event. */
class HeldKeyTest {
    private static final String RELAY = "drainer";
    private static final int BACKLOG = 100_000;
    private static final int OTHERS = 60_000;
    private static final int LEAD = 10_000;
    private static final int ROUNDS = 3;

    /** Events per second of elapsed time, and of processor time. */
    private record Rate(double elapsed, double processor) {
        Rate better(Rate other) {
            return new Rate(Math.max(elapsed, other.elapsed), Math.max(processor, other.processor));
        }
    }

    @Test
    void aKeyThatFailsForEverHoldsOnlyItself() {
        assumeTrue(Files.exists(Path.of("/proc/self/stat")), "processor time is read from /proc");
        try (Rig held = Rig.on(SharedServers.get(), "F10 held key");
                Rig plain = Rig.on(SharedServers.get(), "F10 the same without it")) {
            held.execute("INSERT INTO outbox_event (stream, event_key, event_type, payload)"
                    + " SELECT 's', 'bad', 't', '\\x00' FROM generate_series(1, " + BACKLOG + ")");
            held.fault("a key fails for ever with " + BACKLOG + " events behind it");
            Rate with = new Rate(0, 0);
            Rate without = new Rate(0, 0);
            for (int round = 0; round < ROUNDS; round++) {
                // The best of each: whatever else the machine does can only make a round slower.
                with = with.better(drain(held));
                without = without.better(drain(plain));
            }
            double ratio = with.processor() / without.processor();
            held.passed(String.format(
                    "%.0f/s elapsed, %.0f/s of processor time, ratio %.2f", with.elapsed(), with.processor(), ratio));
            plain.passed(
                    String.format("%.0f/s elapsed, %.0f/s of processor time", without.elapsed(), without.processor()));
            assertThat(held.number("SELECT count(*) FROM outbox_event")).isEqualTo(BACKLOG);
            assertThat(ratio).as("rate with the held key over rate without").isGreaterThan(0.9);
        }
    }

    /** How fast events of other keys are delivered and settled, once it is under way. */
    private static Rate drain(Rig rig) {
        rig.execute("INSERT INTO outbox_event (stream, event_key, event_type, payload)"
                + " SELECT 's', 'key-' || n % 500, 't', '\\x00' FROM generate_series(1, " + OTHERS + ") n");
        rig.execute("ANALYZE outbox_event");
        Publisher publisher = event -> event.key().orElse("").equals("bad")
                ? CompletableFuture.failedFuture(new RetryableFailureException("BAD", "Always fails", null))
                : CompletableFuture.completedFuture(null);
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(rig.url());
        source.setApplicationName(RELAY);
        try (Relay relay = Relay.from(OrderedFeed.of(source))
                .to(publisher)
                .name(RELAY)
                .retry(RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(2))
                        .attempts(1_000_000))
                .build()) {
            relay.start();
            Rig.await("it is under way", () -> relay.publishedCount() >= LEAD);
            long from = relay.publishedCount();
            double processor = processorSeconds(rig);
            long start = System.nanoTime();
            Rig.await("all are settled", () -> relay.publishedCount() >= OTHERS);
            double elapsed = (System.nanoTime() - start) / 1e9;
            return new Rate((OTHERS - from) / elapsed, (OTHERS - from) / (processorSeconds(rig) - processor));
        }
    }

    /**
     * What the relay's loop and its sessions have used. The loop and its session wait for each other, so on an idle
     * machine this is the elapsed time, and on a busy one it is what it would have been.
     */
    private static double processorSeconds(Rig rig) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        double seconds = 0;
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo info = threads.getThreadInfo(id);
            if (info != null && info.getThreadName().startsWith("postrider-" + RELAY + "-loop")) {
                seconds += threads.getThreadCpuTime(id) / 1e9;
            }
        }
        for (String pid : rig.texts("SELECT pid FROM pg_stat_activity WHERE application_name = '" + RELAY
                + "' AND datname = current_database()")) {
            seconds += processorSeconds(Path.of("/proc", pid, "stat"));
        }
        return seconds;
    }

    private static double processorSeconds(Path stat) {
        try {
            String text = Files.readString(stat);
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
            int user = 11;
            int system = 12;
            double ticksPerSecond = 100;
            return (Long.parseLong(fields[user]) + Long.parseLong(fields[system])) / ticksPerSecond;
        } catch (IOException e) {
            throw new UncheckedIOException("The processor time of a session could not be read", e);
        }
    }
}
