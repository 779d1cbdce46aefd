// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * Plays seeds: the engine's own classes over a simulated database, destination and clock, by one thread for each seed. The
 * same seed is the same schedule, step by step.
 */
public final class Simulator {
    private static final int LAST_LINES = 200;

    /** What came of some seeds. */
    public record Result(Tally tally, long seeds, double seconds, Optional<Failure> failure) {
        public long seedsPerSecond() {
            return Math.round(seeds / seconds);
        }
    }

    /** A seed in which a promise was broken. */
    public record Failure(long seed, Throwable cause) {}

    private Simulator() {}

    /** Plays seeds on all cores, until one fails; of several that fail at once, the first is told. */
    public static Result play(long firstSeed, int seeds) {
        long started = System.nanoTime();
        Tally tally = new Tally();
        Optional<Failure> failure = LongStream.range(firstSeed, firstSeed + seeds)
                .parallel()
                .mapToObj(seed -> play(seed, tally))
                .flatMap(Optional::stream)
                .findFirst();
        return new Result(tally, seeds, (System.nanoTime() - started) / 1e9, failure);
    }

    private static Optional<Failure> play(long seed, Tally tally) {
        Play play = new Play(seed, false);
        try {
            play.run();
            return Optional.empty();
        } catch (RuntimeException | Error e) {
            return Optional.of(new Failure(seed, e));
        } finally {
            tally.add(play.world().tally);
        }
    }

    /** Everything that happened in a seed, line by line; the last line says how it ended. */
    public static List<String> trace(long seed) {
        Play play = new Play(seed, true);
        try {
            play.run();
            play.world().note("end", "everything held,", play.world().schedule.planned(), "steps");
        } catch (RuntimeException | Error e) {
            play.world().note("end", e);
        }
        return play.world().trace.lines();
    }

    /** Plays seeds and says how it went; returns 0 if everything held and 1 if not. */
    public static int run(long firstSeed, int seeds, PrintStream out) {
        Result result = play(firstSeed, seeds);
        Failure failure = result.failure().orElse(null);
        if (failure != null) {
            out.println(describe(failure));
            return 1;
        }
        for (Sometimes what : Sometimes.values()) {
            out.printf(
                    "%12d  %s%n",
                    result.tally().of(what),
                    what.name().toLowerCase(Locale.ROOT).replace('_', ' '));
        }
        out.printf("%d seeds from %d on, %d per second: everything held%n", seeds, firstSeed, result.seedsPerSecond());
        return 0;
    }

    /** The seed, what was broken, and the last lines of what led to it. */
    public static String describe(Failure failure) {
        List<String> lines = trace(failure.seed());
        String last = String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        return "Seed " + failure.seed() + ": " + failure.cause() + "\n" + last
                + "\nPlay it again with: ./faults simulate" + " --seeds 1 --seed " + failure.seed();
    }
}
