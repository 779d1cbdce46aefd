// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.OutboxException;
import io.postrider.internal.Discretion;
import io.postrider.internal.OperatorSql;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Pauses and resumes streams for all relays at once; audited. Thread-safe. */
public final class Streams {
    private final DataSource dataSource;
    private final OperatorSql sql;

    private Streams(DataSource dataSource, TableNames tables) {
        this.dataSource = dataSource;
        this.sql = new OperatorSql(tables);
    }

    public static Streams of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Streams of(DataSource dataSource, TableNames tables) {
        return new Streams(dataSource, tables);
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
