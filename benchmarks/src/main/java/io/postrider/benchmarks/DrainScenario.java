// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** How fast a backlog is delivered to Kafka and removed. */
final class DrainScenario implements Scenario {
    private static final int WARM_UP_EVENTS = 100_000;
    private static final List<String> VARIANTS =
            List.of("history-on", "history-no-payload", "history-off", "row-claim", "floor");

    private final Options options;
    private final List<String> wanted;

    DrainScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(VARIANTS);
    }

    @Override
    public Results measure(Consumer<String> progress) throws Exception {
        int events = options.number("events", 500_000);
        Rounds rounds = new Rounds(options.rounds(), Math.min(events, WARM_UP_EVENTS), events);
        try (Rig rig = Rig.start()) {
            List<Variant> variants = new ArrayList<>();
            wanted.forEach(name -> variants.add(new DrainRound(rig, backlog(rig, name))));
            Results results = new Results("drain", DrainRound.METRIC, wanted, List.of("row-claim", "floor"));
            return rounds.run(variants, results, progress);
        }
    }

    private Backlog backlog(Rig rig, String name) {
        int loops = options.number("loops", 2);
        return switch (name) {
            case "row-claim" -> new RowClaimBacklog(rig);
            case "floor" -> new FloorBacklog(rig);
            case "history-on" -> new RelayBacklog(rig, History.KEEP, loops);
            case "history-no-payload" -> new RelayBacklog(rig, History.NO_PAYLOAD, loops);
            default -> new RelayBacklog(rig, History.OFF, loops);
        };
    }
}
