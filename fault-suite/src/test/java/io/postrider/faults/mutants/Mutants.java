// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Shows that each known mistake is found by a test: what {@code ./faults mutants} runs. */
public final class Mutants {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration LONGEST_BASELINE = Duration.ofMinutes(15);

    private Mutants() {}

    /**
     * What came of one mutant.
     *
     * @param killed whether a test failed because of it
     * @param how the first test that failed, or what went wrong
     */
    record Verdict(Mutant mutant, boolean killed, String how, Duration took) {}

    /**
     * Runs those with these names, or all, and prints a line for each.
     *
     * @return whether each was found by its tests, which pass without it
     */
    public static boolean run(List<String> names) {
        List<Mutant> mutants = named(names);
        System.out.println("Without a mistake: " + baseline(mutants) + " tests pass");
        List<Verdict> verdicts = new ArrayList<>();
        for (Mutant mutant : mutants) {
            Verdict verdict = judge(mutant);
            System.out.printf(
                    "%-36s %-9s %5.1f s  %s%n",
                    mutant.name(),
                    verdict.killed() ? "killed" : "SURVIVED",
                    verdict.took().toMillis() / 1000.0,
                    verdict.how());
            verdicts.add(verdict);
        }
        long survived = verdicts.stream().filter(verdict -> !verdict.killed()).count();
        System.out.println((verdicts.size() - survived) + " killed, " + survived + " survived");
        return survived == 0;
    }

    static List<Mutant> named(List<String> names) {
        List<Mutant> all = MutantFile.all();
        Set<String> unknown = new TreeSet<>(names);
        all.forEach(mutant -> unknown.remove(mutant.name()));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("There is no mutant " + String.join(", ", unknown) + " among: "
                    + all.stream().map(Mutant::name).collect(Collectors.joining(", ")));
        }
        return all.stream()
                .filter(mutant -> names.isEmpty() || names.contains(mutant.name()))
                .toList();
    }

    /** Runs their tests on the product as it is, since the failure of a test that always fails says nothing. */
    static int baseline(List<Mutant> mutants) {
        Set<String> tests = new TreeSet<>();
        mutants.forEach(mutant -> tests.addAll(mutant.tests()));
        String first = firstLine(Workshop.unchanged(), tests, LONGEST_BASELINE);
        if (!first.startsWith(TestMain.ENDED)) {
            throw new IllegalStateException("Without a mistake this should pass: " + first);
        }
        return Integer.parseInt(first.substring(TestMain.ENDED.length()));
    }

    static Verdict judge(Mutant mutant) {
        long start = System.nanoTime();
        boolean killed = false;
        String how;
        try {
            String first = firstLine(Workshop.make(mutant), mutant.tests(), PATIENCE);
            killed = first.startsWith(TestMain.FAILED);
            how = killed ? first.substring(TestMain.FAILED.length()).replaceFirst(" .*", "") : first;
        } catch (IllegalStateException e) {
            how = String.valueOf(e.getMessage());
        }
        return new Verdict(mutant, killed, how, Duration.ofNanos(System.nanoTime() - start));
    }

    /** What the tests report first: a failure, or that they have ended without one. */
    private static String firstLine(String classpath, Collection<String> tests, Duration timeout) {
        try (ChildJvm jvm = ChildJvm.of(TestMain.class)
                .classpath(classpath)
                .jvmOptions("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .args(tests.toArray(String[]::new))
                .start()) {
            return jvm.awaitLine(
                    line -> Stream.of(TestMain.FAILED, TestMain.BROKEN, TestMain.ENDED)
                            .anyMatch(line::startsWith),
                    timeout);
        }
    }
}
