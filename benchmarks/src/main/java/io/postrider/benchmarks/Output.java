// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Prints results: one JSON object per line for programs, or a table for people. */
final class Output {
    /** In cores; above it, others took so much of the machine that the numbers say little. */
    private static final double MUCH_OTHER_LOAD = 0.3;

    private final PrintStream out;
    private final boolean json;

    Output(PrintStream out, boolean json) {
        this.out = out;
        this.json = json;
    }

    void print(List<Map<String, Object>> rows) {
        if (json) {
            rows.forEach(row -> out.println(json(row)));
            return;
        }
        table(rows).forEach(out::println);
        if (rows.stream()
                .anyMatch(row -> row.get(Results.OTHER_LOAD) instanceof Double load && load > MUCH_OTHER_LOAD)) {
            out.println("Other processes used more than " + MUCH_OTHER_LOAD
                    + " of a core (other_load): repeat this on a quiet machine before you believe it.");
        }
    }

    static String json(Map<String, Object> row) {
        return row.entrySet().stream()
                .filter(entry -> !(entry.getValue() instanceof Double number) || Double.isFinite(number))
                .map(entry -> quoted(entry.getKey()) + ": " + value(entry.getValue(), true))
                .collect(Collectors.joining(", ", "{", "}"));
    }

    private static List<String> table(List<Map<String, Object>> rows) {
        Set<String> columns = new LinkedHashSet<>();
        rows.forEach(row -> columns.addAll(row.keySet()));
        List<StringBuilder> lines = new ArrayList<>();
        for (int i = 0; i <= rows.size(); i++) {
            lines.add(new StringBuilder());
        }
        for (String column : columns) {
            List<String> cells = new ArrayList<>(List.of(column));
            rows.forEach(row -> cells.add(row.containsKey(column) ? value(row.get(column), false) : ""));
            int width = cells.stream().mapToInt(String::length).max().orElse(0);
            for (int i = 0; i < cells.size(); i++) {
                boolean text = Set.of("scenario", "variant", "against").contains(column);
                lines.get(i).append(("%" + (text ? "-" : "") + width + "s  ").formatted(cells.get(i)));
            }
        }
        return lines.stream().map(line -> line.toString().stripTrailing()).toList();
    }

    private static String value(Object value, boolean json) {
        if (value instanceof Double number) {
            if (!Double.isFinite(number)) {
                return "n/a";
            }
            String grouping = json ? "" : ",";
            return number == Math.rint(number)
                    ? ("%" + grouping + "d").formatted(number.longValue())
                    : number.toString();
        }
        return json ? quoted(String.valueOf(value)) : String.valueOf(value);
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
