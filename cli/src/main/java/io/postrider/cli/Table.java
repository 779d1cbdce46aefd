// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.internal.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** One listing: columns of at most 100 characters for people, all fields for scripts. */
final class Table<T> {
    private static final int WIDTH = 100;
    private static final int NARROWEST = 8;
    private static final String GAP = "  ";

    private final List<Column<T>> columns = new ArrayList<>();

    private enum Kind {
        /** May be cut to make room. */
        LOOSE,
        FIRM,
        NUMBER,
        /** For scripts alone. */
        HIDDEN
    }

    private record Column<T>(String name, Kind kind, Function<T, ?> value, Function<T, String> shown) {}

    Table<T> loose(String name, Function<T, ?> value) {
        return add(name, Kind.LOOSE, value);
    }

    Table<T> firm(String name, Function<T, ?> value) {
        return add(name, Kind.FIRM, value);
    }

    Table<T> number(String name, Function<T, ?> value) {
        return add(name, Kind.NUMBER, value);
    }

    Table<T> hidden(String name, Function<T, ?> value) {
        return add(name, Kind.HIDDEN, value);
    }

    /** A number with a plus sign where it stopped at the bound. */
    Table<T> count(String name, ToLongFunction<T> value, long bound) {
        columns.add(
                new Column<>(name, Kind.NUMBER, value::applyAsLong, row -> Shown.count(value.applyAsLong(row), bound)));
        return this;
    }

    /** Another text for people than for scripts. */
    Table<T> firm(String name, Function<T, ?> value, Function<T, String> shown) {
        columns.add(new Column<>(name, Kind.FIRM, value, shown));
        return this;
    }

    private Table<T> add(String name, Kind kind, Function<T, ?> value) {
        columns.add(new Column<>(name, kind, value, row -> Shown.of(value.apply(row))));
        return this;
    }

    void print(PrintWriter out, List<T> rows, boolean json) {
        if (json) {
            printJson(out, rows);
        } else {
            printText(out, rows);
        }
    }

    /** A JSON array with one object per line. */
    private void printJson(PrintWriter out, List<T> rows) {
        out.print('[');
        for (int i = 0; i < rows.size(); i++) {
            out.print(i == 0 ? "\n" : ",\n");
            out.print(Json.of(fields(rows.get(i))));
        }
        out.println(rows.isEmpty() ? "]" : "\n]");
    }

    Map<String, @Nullable Object> fields(T row) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        columns.forEach(column -> fields.put(column.name(), column.value().apply(row)));
        return fields;
    }

    private void printText(PrintWriter out, List<T> rows) {
        List<Column<T>> visible =
                columns.stream().filter(each -> each.kind() != Kind.HIDDEN).toList();
        List<List<String>> cells = new ArrayList<>();
        cells.add(visible.stream().map(each -> heading(each.name())).toList());
        rows.forEach(row ->
                cells.add(visible.stream().map(each -> each.shown().apply(row)).toList()));
        int[] widths = widths(visible, cells);
        for (List<String> line : cells) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String cell = cut(line.get(i), widths[i]);
                String padding = " ".repeat(widths[i] - length(cell));
                text.append(i == 0 ? "" : GAP)
                        .append(visible.get(i).kind() == Kind.NUMBER ? padding + cell : cell + padding);
            }
            out.println(text.toString().stripTrailing());
        }
    }

    private static <T> int[] widths(List<Column<T>> columns, List<List<String>> cells) {
        int[] widths = new int[columns.size()];
        cells.forEach(line -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], length(line.get(i)));
            }
        });
        int excess = GAP.length() * (widths.length - 1) - WIDTH;
        for (int width : widths) {
            excess += width;
        }
        for (; excess > 0; excess--) {
            int widest = widest(columns, widths);
            if (widest < 0) {
                break;
            }
            widths[widest]--;
        }
        return widths;
    }

    private static <T> int widest(List<Column<T>> columns, int[] widths) {
        int widest = -1;
        for (int i = 0; i < widths.length; i++) {
            boolean loose = columns.get(i).kind() == Kind.LOOSE && widths[i] > NARROWEST;
            if (loose && (widest < 0 || widths[i] > widths[widest])) {
                widest = i;
            }
        }
        return widest;
    }

    /** eventId becomes EVENT ID. */
    private static String heading(String name) {
        return name.replaceAll("([A-Z])", " $1").toUpperCase(Locale.ROOT);
    }

    private static int length(String text) {
        return text.codePointCount(0, text.length());
    }

    private static String cut(String text, int width) {
        return length(text) <= width ? text : text.substring(0, text.offsetByCodePoints(0, width - 1)) + "…";
    }
}
