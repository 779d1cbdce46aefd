// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What came of the tests: one row for each line that a test has printed. Thread-safe. */
final class Table {
    private record Ran(boolean held, Duration took) {}

    private final Map<String, List<Ran>> ran = new TreeMap<>();
    private int skipped;

    synchronized void add(String id, String title, Duration took, boolean held) {
        ran.computeIfAbsent(id, key -> new ArrayList<>()).add(new Ran(held, took));
    }

    /** One that cannot be run on this machine. */
    synchronized void skipped() {
        skipped++;
    }

    synchronized boolean allHeld() {
        return ran.size() + skipped > 0
                && ran.values().stream().flatMap(List::stream).allMatch(Ran::held);
    }

    synchronized String asText() {
        StringBuilder text = new StringBuilder();
        for (ResultLines.Line line : lines()) {
            text.append(String.format(
                    "%-30s %-9s %-95s %s%n", line.test(), "seed " + line.seed(), line.result(), line.figures()));
        }
        return text.append(summary()).toString();
    }

    synchronized String asMarkdown() {
        StringBuilder text = new StringBuilder("| Test | Seed | Broken | Result | Figures |\n|---|---|---|---|---|\n");
        for (ResultLines.Line line : lines()) {
            text.append("| ")
                    .append(String.join(" | ", line.test(), line.seed(), line.faults(), line.result(), line.figures()))
                    .append(" |\n");
        }
        return text.append("\n").append(summary()).toString();
    }

    private String summary() {
        long failed = ran.values().stream()
                .flatMap(List::stream)
                .filter(each -> !each.held())
                .count();
        long all = ran.values().stream().mapToLong(List::size).sum();
        Duration took =
                ran.values().stream().flatMap(List::stream).map(Ran::took).reduce(Duration.ZERO, Duration::plus);
        String left = skipped == 0 ? "" : ", " + skipped + " skipped: this machine lacks what they need";
        return (all - failed) + " passed, " + failed + " failed" + left + "\n" + ran.size() + " kinds of faults, "
                + took.toSeconds() + " s of tests\n";
    }

    private static List<ResultLines.Line> lines() {
        return ResultLines.all().stream()
                .sorted(Comparator.comparing(ResultLines.Line::test))
                .toList();
    }
}
