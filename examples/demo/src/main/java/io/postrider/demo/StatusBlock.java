// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/** How the run is going: a block redrawn in place in a terminal, a line every two seconds elsewhere. For one thread. */
final class StatusBlock {
    private static final Duration RATE_OVER = Duration.ofSeconds(2);
    private static final Duration LINE_EVERY = Duration.ofSeconds(2);
    private static final int BAR = 28;
    private static final String BACKLOG = """
            SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)
            FROM outbox_event WHERE stream = 'transfers'""";

    private record Point(long nanos, long published) {}

    private final Console console;
    private final DataSource dataSource;
    private final int events;
    private final Deque<Point> points = new ArrayDeque<>();
    private long lineDue = System.nanoTime();
    private long pending;
    private double oldest;

    StatusBlock(Console console, DataSource dataSource, int events) {
        this.console = console;
        this.dataSource = dataSource;
        this.events = events;
    }

    /** Looks at everything and shows it. */
    void refresh(Traffic traffic, FraudDetection fraud) throws SQLException {
        long committed = traffic.committed();
        readBacklog();
        long perSecond = publishedPerSecond(committed - pending);
        if (console.isTerminal()) {
            console.block(List.of(
                    "",
                    row("committed", committed, bar(committed)),
                    row("pending", pending, String.format(Locale.ROOT, "oldest %.1f s", oldest)),
                    row("published/s", perSecond, ""),
                    row("analysed", fraud.analysed(), fraud.duplicates() + " duplicates dropped")));
        } else if (System.nanoTime() - lineDue >= 0) {
            lineDue += LINE_EVERY.toNanos();
            console.line(String.format(
                    Locale.ROOT,
                    "%5.1f s  committed %d · pending %d (oldest %.1f s) · published %d/s · analysed %d · duplicates %d",
                    console.seconds(),
                    committed,
                    pending,
                    oldest,
                    perSecond,
                    fraud.analysed(),
                    fraud.duplicates()));
        }
    }

    /** Events that no relay has delivered yet, as of the last look. */
    long pending() {
        return pending;
    }

    private void readBacklog() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(BACKLOG)) {
            rows.next();
            pending = rows.getLong(1);
            oldest = rows.getDouble(2);
        }
    }

    private long publishedPerSecond(long published) {
        long now = System.nanoTime();
        points.addLast(new Point(now, published));
        while (now - points.getFirst().nanos() > RATE_OVER.toNanos()) {
            points.removeFirst();
        }
        Point first = points.getFirst();
        double seconds = Math.max(1, now - first.nanos()) / 1e9;
        return Math.max(0, Math.round((published - first.published()) / seconds));
    }

    private String row(String name, long value, String more) {
        return console.dim(String.format(Locale.ROOT, "         %-12s", name))
                + console.bold(String.format(Locale.ROOT, "%8d", value)) + "   " + more;
    }

    private String bar(long committed) {
        int full = (int) (BAR * committed / events);
        return "█".repeat(full) + console.dim("░".repeat(BAR - full)) + " of " + events;
    }
}
