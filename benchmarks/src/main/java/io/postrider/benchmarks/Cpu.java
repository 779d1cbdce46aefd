// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Who used the processors: readings of Linux's /proc, to be subtracted from each other. Where there is no /proc every
 * reading is {@code NaN}. Thread-safe.
 */
final class Cpu {
    private static final Path PROC = Path.of("/proc");
    private static final double TICKS_PER_SECOND = 100;
    private static final long KERNEL_THREADS = 2;

    private final Map<String, Long> roots;

    /** @param roots names of process trees of interest, and the process at the root of each */
    Cpu(Map<String, Long> roots) {
        this.roots = new TreeMap<>(roots);
    }

    /** Seconds of processor time since the start of each, and the moment of the reading. */
    record Reading(long nanos, Map<String, Double> seconds) {}

    private record Stat(long pid, long parent, double seconds) {}

    Reading read() {
        Map<String, Double> seconds = new LinkedHashMap<>();
        try {
            Map<Long, List<Stat>> children = new HashMap<>();
            for (Stat stat : processes()) {
                children.computeIfAbsent(stat.parent(), parent -> new ArrayList<>())
                        .add(stat);
            }
            Set<Long> counted = new HashSet<>();
            roots.forEach((name, root) -> seconds.put("cpu_" + name, tree(root, children, counted)));
            seconds.put("cpu_jvm", tree(ProcessHandle.current().pid(), children, counted));
            double ours =
                    seconds.values().stream().mapToDouble(Double::doubleValue).sum();
            seconds.put(Results.OTHER_LOAD, busy() - ours - tree(KERNEL_THREADS, children, counted));
        } catch (IOException e) {
            roots.keySet().forEach(name -> seconds.put("cpu_" + name, Double.NaN));
            seconds.put("cpu_jvm", Double.NaN);
            seconds.put(Results.OTHER_LOAD, Double.NaN);
        }
        return new Reading(System.nanoTime(), seconds);
    }

    /** The processors that each kept busy between two readings, on average. */
    static Map<String, Double> cores(Reading before, Reading after) {
        double elapsed = (after.nanos() - before.nanos()) / 1e9;
        Map<String, Double> cores = new LinkedHashMap<>();
        after.seconds().forEach((name, seconds) -> {
            double used = (seconds - before.seconds().getOrDefault(name, Double.NaN)) / elapsed;
            cores.put(name, Double.isNaN(used) ? used : Math.max(0, used));
        });
        return cores;
    }

    /** What a tree used that has not been counted yet; ended children are counted by the parent that waited for them. */
    private static double tree(long root, Map<Long, List<Stat>> children, Set<Long> counted) {
        double sum = 0;
        List<Stat> open = new ArrayList<>(children.values().stream()
                .flatMap(List::stream)
                .filter(stat -> stat.pid() == root)
                .toList());
        while (!open.isEmpty()) {
            Stat stat = open.remove(open.size() - 1);
            if (counted.add(stat.pid())) {
                sum += stat.seconds();
                open.addAll(children.getOrDefault(stat.pid(), List.of()));
            }
        }
        return sum;
    }

    /** What processes used, and what other guests of the host took from this one; not the handling of interrupts. */
    private static double busy() throws IOException {
        long[] fields = numbers(Files.readAllLines(PROC.resolve("stat")).get(0), 1);
        return (fields[0] + fields[1] + fields[2] + fields[7]) / TICKS_PER_SECOND;
    }

    private static List<Stat> processes() throws IOException {
        List<Stat> stats = new ArrayList<>();
        List<Path> directories;
        try (Stream<Path> all = Files.list(PROC)) {
            directories = all.filter(path ->
                            Character.isDigit(path.getFileName().toString().charAt(0)))
                    .toList();
        }
        directories.forEach(directory -> process(directory).ifPresent(stats::add));
        return stats;
    }

    private static Optional<Stat> process(Path directory) {
        try {
            String line = Files.readString(directory.resolve("stat"));
            // The name in parentheses may itself contain anything.
            long[] fields = numbers(line.substring(line.lastIndexOf(')') + 2), 1);
            long ticks = fields[10] + fields[11] + fields[12] + fields[13];
            long pid = Long.parseLong(directory.getFileName().toString());
            return Optional.of(new Stat(pid, fields[0], ticks / TICKS_PER_SECOND));
        } catch (IOException e) {
            // It has ended meanwhile.
            return Optional.empty();
        }
    }

    private static long[] numbers(String line, int from) {
        return Arrays.stream(line.trim().split("\\s+"))
                .skip(from)
                .limit(20)
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
