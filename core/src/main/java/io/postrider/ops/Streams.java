// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.OperatorSql;
import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Pauses and resumes streams for all relays at once; audited. Thread-safe. */
public final class Streams {
    private final DataSource dataSource;
    private final OperatorSql sql;
    private final OverviewSql overview;

    private Streams(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.sql = new OperatorSql(tables);
        this.overview = new OverviewSql(tables);
    }

    public static Streams of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Streams of(DataSource dataSource, TableNames tables) {
        return new Streams(dataSource, tables);
    }

    /**
     * How a stream is delivered, as the relays that met it were told.
     *
     * @param onDead what a dead event of it does: HOLD_KEY, SKIP or STOP_STREAM
     * @param history what is kept of its delivered events: KEEP, NO_PAYLOAD or OFF
     */
    public record Known(
            String name,
            String group,
            String mode,
            String onDead,
            String history,
            Instant since,
            Optional<Backlog.Pause> pause) {}

    /** All that a relay has met, by name. */
    public List<Known> known() {
        return new Rows(dataSource)
                .read(
                        "the streams",
                        overview.streams,
                        row -> new Known(
                                row.getString(1),
                                row.getString(2),
                                row.getString(3),
                                row.getString(4),
                                row.getString(5),
                                Rows.time(row, 6),
                                Backlog.pause(row, 7)));
    }

    /** Stops deliveries of this stream everywhere; returns whether it was running. What is under way is finished. */
    public boolean pause(String stream, Actor actor) {
        return change("pause", sql.pause, stream, actor.who(), actor.why(), stream, actor.who(), actor.why());
    }

    /** Lets a paused stream go on; returns whether it was paused. */
    public boolean resume(String stream, Actor actor) {
        return change("resume", sql.resume, stream, stream, actor.who(), actor.why());
    }

    private boolean change(String action, String text, String stream, String... words) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            try (PreparedStatement statement = connection.prepareStatement(text)) {
                for (int i = 0; i < words.length; i++) {
                    statement.setString(i + 1, words[i]);
                }
                return statement.executeUpdate() == 1;
            }
        } catch (SQLException e) {
            throw new OutboxException("Could not " + action + " stream " + stream + ": " + Discretion.firstLine(e), e);
        }
    }
}
