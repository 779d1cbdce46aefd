// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.log;

import io.postrider.internal.Json;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/**
 * What is written, how, and where.
 *
 * @param levels by the beginning of a logger's name; the longest that fits decides
 */
public record LogSettings(boolean json, Level level, Map<String, Integer> levels, PrintStream out) {
    /** More than any level: nothing is written. */
    private static final int OFF = Integer.MAX_VALUE;

    /** Warnings, to stderr: what a script reads stays clean. Kafka's client floods while a broker is down. */
    static LogSettings forCommands() {
        return new LogSettings(false, Level.WARN, Map.of("org.apache.kafka", OFF), stream(FileDescriptor.err));
    }

    /** To stdout, where containers expect it. Of the client of Kafka and of the pool errors alone, unless told otherwise. */
    public static LogSettings forServer(boolean json, Level level, Map<String, Level> others) {
        Map<String, Integer> levels = new TreeMap<>();
        levels.put("org.apache.kafka", Level.ERROR.toInt());
        levels.put("com.zaxxer.hikari", Level.ERROR.toInt());
        others.forEach((name, each) -> levels.put(name, each.toInt()));
        return new LogSettings(json, level, levels, stream(FileDescriptor.out));
    }

    private static PrintStream stream(FileDescriptor where) {
        return new PrintStream(new FileOutputStream(where), true, StandardCharsets.UTF_8);
    }

    int levelOf(String logger) {
        return levels.entrySet().stream()
                .filter(each -> logger.equals(each.getKey()) || logger.startsWith(each.getKey() + "."))
                .max((one, other) ->
                        Integer.compare(one.getKey().length(), other.getKey().length()))
                .map(Map.Entry::getValue)
                .orElse(level.toInt());
    }

    void write(String logger, Level level, String message, @Nullable Throwable thrown) {
        Map<String, String> context = MDC.getCopyOfContextMap();
        Map<String, String> sorted = context == null ? Map.of() : new TreeMap<>(context);
        // One call for one line, so that lines of two threads do not mix.
        out.println(
                json ? object(logger, level, message, sorted, thrown) : text(logger, level, message, sorted, thrown));
    }

    private static String object(
            String logger, Level level, String message, Map<String, String> context, @Nullable Throwable thrown) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", now());
        line.put("level", level.name());
        line.put("logger", logger);
        line.put("thread", Thread.currentThread().getName());
        line.put("message", message);
        if (!context.isEmpty()) {
            line.put("mdc", context);
        }
        if (thrown != null) {
            line.put("exception", trace(thrown));
        }
        return Json.of(line);
    }

    private static String text(
            String logger, Level level, String message, Map<String, String> context, @Nullable Throwable thrown) {
        String shortName = logger.substring(logger.lastIndexOf('.') + 1);
        String line = String.format(Locale.ROOT, "%s %-5s %s - %s", now(), level, shortName, oneLine(message));
        return line
                + (context.isEmpty() ? "" : " " + oneLine(context.toString()))
                + (thrown == null
                        ? ""
                        : System.lineSeparator() + indented(trace(thrown).stripTrailing()));
    }

    /** Whatever a message quotes, it does not begin a line of its own; SQL that is to be run keeps its lines. */
    private static String oneLine(String message) {
        return visible(message).replace("\n", "\n    ");
    }

    /** A stack trace looks as usual; whatever the messages in it quote does not begin a line. */
    private static String indented(String trace) {
        return visible(trace.replace(System.lineSeparator(), "\n")).replaceAll("\\n(?!\\t|Caused by: )", "\n    ");
    }

    private static String visible(String text) {
        return text.replaceAll("[\\p{Cc}\\u2028\\u2029&&[^\\n\\t]]", "?");
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    private static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
