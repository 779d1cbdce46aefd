// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** How long after its time an event starts that was committed at least a second before. */
final class DueScenario implements Scenario {
    private static final String METRIC = "p95_ms";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** As another process would commit them, so that nobody tells the relay; each says its time. */
    private static final String FILL = """
            INSERT INTO outbox_event (stream, event_key, event_type, occurred_at, due_at)
            SELECT '%s', 'order-' || n, 'OrderPlaced', t, t
            FROM (SELECT n, clock_timestamp() + interval '1200 ms' + n * interval '20 ms' AS t
                  FROM generate_series(1, %d) AS n) AS events
            """;

    private final Options options;
    private final List<String> wanted;

    DueScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(List.of("competing", "ordered"));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int events = options.number("events", 500);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(new Due(rig, name)));
        Results results = new Results("due", METRIC, wanted, List.of());
        return new Rounds(options.rounds(), Math.min(events, 50), events).run(variants, results, progress);
    }

    private record Due(Rig rig, String name) implements Variant {

        @Override
        public Map<String, Double> round(int events) throws Exception {
            rig.sql("TRUNCATE outbox_event, outbox_history", "DELETE FROM outbox_stream");
            Queue<Double> millis = new ConcurrentLinkedQueue<>();
            Publisher noting = event -> {
                Duration late = Duration.between(event.occurredAt(), Instant.now());
                millis.add(late.toNanos() / 1e6);
                return CompletableFuture.completedFuture(null);
            };
            try (Relay relay = feed().to(noting).build()) {
                relay.start();
                Cpu.Reading before = rig.cpu().read();
                rig.sql(FILL.formatted(Rig.TOPIC, events));
                await(relay, events);
                Map<String, Double> cores = Cpu.cores(before, rig.cpu().read());
                double[] sorted =
                        millis.stream().mapToDouble(each -> each).sorted().toArray();
                Map<String, Double> measured = new LinkedHashMap<>();
                measured.put(METRIC, Numbers.percentile(sorted, 0.95));
                measured.put("p50_ms", Numbers.percentile(sorted, 0.50));
                measured.put("p99_ms", Numbers.percentile(sorted, 0.99));
                measured.put(Results.OTHER_LOAD, cores.getOrDefault(Results.OTHER_LOAD, Double.NaN));
                return measured;
            }
        }

        private RelaySettings.To feed() {
            return name.equals("competing")
                    ? Relay.from(CompetingFeed.builder(rig.dataSource())
                            .streams(StreamSettings.of(Rig.TOPIC))
                            .build())
                    : Relay.from(OrderedFeed.builder(rig.dataSource())
                            .streams(StreamSettings.of(Rig.TOPIC))
                            .build());
        }

        private static void await(Relay relay, int events) throws InterruptedException {
            long start = System.nanoTime();
            while (relay.publishedCount() < events) {
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw new IllegalStateException(
                            relay.publishedCount() + " of " + events + " events were started after " + PATIENCE);
                }
                Thread.sleep(10);
            }
        }
    }
}
