// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/** What it costs a consumer's transaction to note its event in the inbox. */
final class InboxScenario implements Scenario {
    private static final List<String> VARIANTS = List.of("base", "plain-insert", "once");
    private static final String TABLES = "business_order, plain_processed, inbox_message";

    private final Options options;
    private final List<String> wanted;

    InboxScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(VARIANTS);
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int millis = options.number("seconds", 5) * 1_000;
        int threads = options.number("threads", 16);
        rig.sql(Business.TABLE, PlainNote.TABLE);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(new AppendRound(rig, extra(rig, name), threads, TABLES)));
        Results results = new Results("inbox", AppendRound.METRIC, wanted, List.of("base", "plain-insert"));
        return new Rounds(options.rounds(), Math.min(millis / 2, 3_000), millis).run(variants, results, progress);
    }

    /** An id as events have it. */
    static UUID eventId() {
        return OutboxEvent.of("orders", "OrderPlaced").build().id();
    }

    private static Extra extra(Rig rig, String name) {
        return switch (name) {
            case "base" -> new NoExtra();
            case "plain-insert" -> new PlainNote();
            default -> new Once(rig);
        };
    }
}
