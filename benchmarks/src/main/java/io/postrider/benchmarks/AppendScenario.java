// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** What an event costs the transaction that appends it. */
final class AppendScenario implements Scenario {
    private static final List<String> VARIANTS =
            List.of("base", "plain-insert", "append", "relayed", "publish-on-commit", "leased");
    private static final String TABLES = "business_order, plain_event, outbox_event";

    private final Options options;
    private final List<String> wanted;

    AppendScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(VARIANTS);
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int millis = options.number("seconds", 5) * 1_000;
        int threads = options.number("threads", 16);
        rig.sql(Business.TABLE, PlainInsert.TABLE);
        List<Variant> variants = new ArrayList<>();
        wanted.forEach(name -> variants.add(new AppendRound(rig, extra(rig, name), threads, TABLES)));
        Results results = new Results("append", AppendRound.METRIC, wanted, List.of("base", "plain-insert", "relayed"));
        int warmUp = options.number("warm-up", 10) * 1_000;
        return new Rounds(options.rounds(), warmUp, millis).run(variants, results, progress);
    }

    private static Extra extra(Rig rig, String name) {
        return switch (name) {
            case "base" -> new NoExtra();
            case "plain-insert" -> new PlainInsert();
            case "append" -> new Append(rig);
            default ->
                new RelayedAppend(
                        rig,
                        RelayedAppend.How.valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_')));
        };
    }
}
