// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** How fast a backlog is taken, handed to a publisher that answers at once, and removed. */
final class QueueScenario implements Scenario {
    private static final int WARM_UP_EVENTS = 50_000;
    private static final int NOT_DUE = 10_000;

    private final Options options;
    private final Map<String, Function<Rig, Backlog>> makers = new LinkedHashMap<>();
    private final List<String> wanted;

    QueueScenario(Options options) {
        this.options = options;
        int loops = options.number("loops", 2);
        makers.put("competing", rig -> new CompetingBacklog(rig, "competing", loops, 0));
        makers.put("ordered", rig -> new OrderedBacklog(rig, "ordered", loops));
        makers.put("row-claim", RowClaimQueue::new);
        makers.put("not-due", rig -> new CompetingBacklog(rig, "not-due", loops, NOT_DUE));
        this.wanted = options.variants(List.copyOf(makers.keySet()));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int events = options.number("events", 200_000);
        List<Variant> variants = new ArrayList<>();
        makers.forEach((name, maker) -> {
            if (wanted.contains(name)) {
                variants.add(new QueueRound(rig, maker.apply(rig)));
            }
        });
        Results results = new Results("queue", QueueRound.METRIC, wanted, List.of("row-claim", "competing"));
        return new Rounds(options.rounds(), Math.min(events, WARM_UP_EVENTS), events).run(variants, results, progress);
    }
}
