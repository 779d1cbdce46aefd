// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** How fast a backlog is taken, handed to a publisher that answers at once, and removed; and what that could cost at best. */
final class QueueScenario implements Scenario {
    private static final int NOT_DUE = 10_000;
    private static final int BATCH = 500;
    private static final int PART = 10;

    /** What each variant is compared with. */
    private static final Map<String, String> AGAINST = Map.of(
            "competing", "row-claim",
            "ordered", "row-claim",
            "same-transaction-batch", "competing",
            "same-transaction", "delete-commit",
            "inbox", "plain-insert",
            "not-due", "competing");

    private final Options options;
    private final Map<String, Function<Rig, Variant>> makers = new LinkedHashMap<>();
    private final List<String> wanted;

    QueueScenario(Options options) {
        this.options = options;
        int loops = options.number("loops", 1);
        int competing = options.number("loops", 3);
        int connections = options.number("connections", 8);
        backlog("competing", 1, rig -> new CompetingBacklog(rig, "competing", competing, 0));
        backlog("ordered", 1, rig -> new OrderedBacklog(rig, "ordered", loops));
        backlog(
                "same-transaction-batch",
                1,
                rig -> new SameTransactionBacklog(rig, "same-transaction-batch", competing, connections, BATCH));
        backlog(
                "same-transaction",
                PART,
                rig -> new SameTransactionBacklog(rig, "same-transaction", competing, connections, 1));
        backlog("row-claim", 1, RowClaimQueue::new);
        each("delete-commit", connections, DeleteEach::new);
        each("inbox", connections, rig -> new NoteEach(rig, new Once(rig), "inbox_message"));
        each("plain-insert", connections, rig -> {
            rig.sql(PlainNote.TABLE);
            return new NoteEach(rig, new PlainNote(), "plain_processed");
        });
        backlog("not-due", 1, rig -> new CompetingBacklog(rig, "not-due", competing, NOT_DUE));
        this.wanted = options.variants(List.copyOf(makers.keySet()));
    }

    private void backlog(String name, int part, Function<Rig, Backlog> maker) {
        makers.put(name, rig -> new QueueRound(rig, maker.apply(rig), part));
    }

    private void each(String name, int connections, Function<Rig, EachRound.Each> maker) {
        makers.put(name, rig -> new EachRound(rig, name, maker.apply(rig), connections, PART));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int events = options.number("events", 200_000);
        List<Variant> variants = new ArrayList<>();
        makers.forEach((name, maker) -> {
            if (wanted.contains(name)) {
                variants.add(maker.apply(rig));
            }
        });
        Results results = new Results("queue", Measured.METRIC, wanted, List.of()).comparing(AGAINST);
        // A whole round: of a shorter one the compiler would be a third of what the first rounds cost.
        return new Rounds(options.rounds(), events, events).run(variants, results, progress);
    }
}
