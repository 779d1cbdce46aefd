// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import io.postrider.relay.RetryableFailureException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** How much a key that fails for ever, with many events behind it, slows the others down. */
final class HeldScenario implements Scenario {
    private static final String METRIC = "events_per_s";
    private static final String WITHOUT = "without";
    private static final String HELD = "held";
    private static final int WARM_UP_EVENTS = 50_000;

    private final Options options;
    private final List<String> wanted;

    HeldScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(List.of(WITHOUT, HELD));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int events = options.number("events", 200_000);
        int backlog = options.number("backlog", 100_000);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(new Drain(rig, name, name.equals(HELD) ? backlog : 0)));
        Results results = new Results("held", METRIC, wanted, List.of(WITHOUT));
        return new Rounds(options.rounds(), Math.min(events, WARM_UP_EVENTS), events).run(variants, results, progress);
    }

    /** Delivers events of 1,000 keys into nothing, while so many wait behind an event that always fails. */
    private record Drain(Rig rig, String name, int behind) implements Variant {
        private static final String BAD = "bad";
        private static final String FILL = """
                INSERT INTO outbox_event (stream, event_key, event_type, payload)
                SELECT '%s', %s, 'OrderPlaced', decode(repeat(md5(n::text), 32), 'hex')
                FROM generate_series(1, %d) AS n
                """;

        @Override
        public Map<String, Double> round(int events) throws Exception {
            rig.sql(
                    "TRUNCATE outbox_event, outbox_history",
                    FILL.formatted(Rig.TOPIC, "'" + BAD + "'", behind),
                    FILL.formatted(Rig.TOPIC, "'order-' || n % 1000", events),
                    "VACUUM (ANALYZE) outbox_event",
                    "CHECKPOINT");
            Publisher publisher = event -> event.key().orElse("").equals(BAD)
                    ? CompletableFuture.failedFuture(new RetryableFailureException("BAD", "Always fails", null))
                    : CompletableFuture.completedFuture(null);
            try (Relay relay = Relay.from(OrderedFeed.of(rig.dataSource()))
                    .to(publisher)
                    .retry(RetryPolicy.exponential(Duration.ofSeconds(1), Duration.ofSeconds(2))
                            .attempts(1_000_000))
                    .build()) {
                relay.start();
                // The first look at a held key is dear and comes once.
                await(relay, events / 10);
                long from = relay.publishedCount();
                if (from >= events) {
                    throw new IllegalArgumentException(
                            "--events %d is too few to measure: all of them were delivered in the first moment. Ask for more."
                                    .formatted(events));
                }
                Cpu.Reading before = rig.cpu().read();
                await(relay, events);
                Cpu.Reading after = rig.cpu().read();
                check(relay, events);
                Map<String, Double> measured = new LinkedHashMap<>();
                measured.put(METRIC, (events - from) / ((after.nanos() - before.nanos()) / 1e9));
                measured.put(Results.OTHER_LOAD, Cpu.cores(before, after).getOrDefault(Results.OTHER_LOAD, Double.NaN));
                return measured;
            }
        }

        private static void await(Relay relay, long events) throws InterruptedException {
            while (relay.publishedCount() < events) {
                Thread.sleep(1);
            }
        }

        private void check(Relay relay, int events) {
            long left = rig.number("SELECT count(*) FROM outbox_event");
            if (left != behind || relay.publishedCount() != events) {
                throw new IllegalStateException("%s delivered %d of %d events and left %d instead of %d"
                        .formatted(name, relay.publishedCount(), events, left, behind));
            }
        }
    }
}
