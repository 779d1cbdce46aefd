// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** How long after the commit a consumer has the event. */
final class LatencyScenario implements Scenario {
    private static final List<String> VARIANTS =
            List.of("bare", "publish-on-commit", "leased", "wake-up", "notify", "poll");

    private final Options options;
    private final List<String> wanted;

    LatencyScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(VARIANTS);
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int events = options.number("events", 2_000);
        int rate = options.number("rate", 200);
        rig.sql(Business.TABLE);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(new LatencyRound(rig, carrier(rig, name), rate)));
        Results results = new Results("latency", LatencyRound.METRIC, wanted, List.of("bare"));
        int warmUp = LatencyRound.WARM_UP_FASTER * Math.min(events, rate * 10);
        return new Rounds(options.rounds(), warmUp, events).run(variants, results, progress);
    }

    private static Carrier carrier(Rig rig, String name) {
        return switch (name) {
            case "bare" -> new BareCarrier(rig);
            case "notify" -> new NotifyCarrier(rig);
            default ->
                new RelayCarrier(
                        rig,
                        RelayCarrier.How.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_')));
        };
    }
}
