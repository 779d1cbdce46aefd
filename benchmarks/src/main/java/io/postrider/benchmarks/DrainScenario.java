// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** How fast a backlog is delivered to Kafka and removed. */
final class DrainScenario implements Scenario {
    private static final String ONE_RELAY = "one-relay";
    private static final String USUAL_HEAP = "1g";

    private final Options options;
    private final Map<String, Function<Rig, Variant>> makers = new LinkedHashMap<>();
    private final List<String> wanted;
    private final int events;
    private final int loops;

    DrainScenario(Options options) {
        this.options = options;
        this.events = options.number("events", 500_000);
        this.loops = options.number("loops", 1);
        if (options.text("backlog")
                .or(() -> options.text("heap"))
                .or(() -> options.text("relays"))
                .isPresent()) {
            offerChildren();
        } else {
            offerWays();
        }
        this.wanted = options.variants(List.copyOf(makers.keySet()));
    }

    /** Ours against others. */
    private void offerWays() {
        for (History history : List.of(History.KEEP, History.NO_PAYLOAD, History.OFF)) {
            makers.put(RelayBacklog.nameOf(history), rig -> new DrainRound(rig, new RelayBacklog(rig, history, loops)));
        }
        makers.put("row-claim", rig -> new DrainRound(rig, new RowClaimBacklog(rig)));
        makers.put("floor", rig -> new DrainRound(rig, new FloorBacklog(rig)));
    }

    /** One relay with memory to spare, against one with a larger backlog and less memory, or against several. */
    private void offerChildren() {
        makers.put(ONE_RELAY, rig -> child(rig, ONE_RELAY, USUAL_HEAP, 1, 1.0));
        int backlog = options.number("backlog", events);
        String heap = options.text("heap").orElse(USUAL_HEAP);
        if (backlog != events || !heap.equals(USUAL_HEAP)) {
            String name = "backlog-" + backlog + "-heap-" + heap;
            makers.put(name, rig -> child(rig, name, heap, 1, (double) backlog / events));
        }
        int relays = options.number("relays", 1);
        if (relays > 1) {
            String name = "relays-" + relays;
            makers.put(name, rig -> child(rig, name, USUAL_HEAP, relays, 1.0));
        }
    }

    private Variant child(Rig rig, String name, String heap, int relays, double sizeFactor) {
        History history = switch (options.text("history").orElse("off")) {
            case "on" -> History.KEEP;
            case "no-payload" -> History.NO_PAYLOAD;
            default -> History.OFF;
        };
        return new DrainRound(rig, new ChildBacklog(name, rig, history, loops, heap, relays), sizeFactor);
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        Rounds rounds = new Rounds(options.rounds(), events, events);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(maker(name).apply(rig)));
        Results results = new Results("drain", DrainRound.METRIC, wanted, List.of("row-claim", "floor", ONE_RELAY));
        return rounds.run(variants, results, progress);
    }

    private Function<Rig, Variant> maker(String name) {
        Function<Rig, Variant> maker = makers.get(name);
        if (maker == null) {
            throw new IllegalArgumentException("Unknown variant " + name + ".");
        }
        return maker;
    }
}
