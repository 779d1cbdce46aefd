// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxException;
import io.postrider.internal.Sql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;

/** Declares streams as those of one group and mode. */
record Declaration(Session session, Sql sql, String group, Mode mode) {

    /** How the events of a stream are delivered. */
    enum Mode {
        ORDERED,
        COMPETING
    }

    private record Stored(String group, String mode) {}

    /** @throws OutboxException if the stream is stored as one of another group or mode */
    void of(StreamSettings stream) {
        Stored stored = session.run("declare stream " + stream.name(), connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.declare)) {
                statement.setString(1, stream.name());
                statement.setString(2, group);
                statement.setString(3, mode.name());
                statement.setString(4, stream.onDead().name());
                statement.setString(5, stream.history().name());
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    return new Stored(rows.getString(1), rows.getString(2));
                }
            }
        });
        if (!stored.group().equals(group)) {
            throw new OutboxException("Stream " + stream.name() + " belongs to relay group '" + stored.group()
                    + "' and cannot be relayed by group '" + group
                    + "' as well. Relay it in one group, or change its row in the table of streams.");
        }
        if (!stored.mode().equals(mode.name())) {
            throw new OutboxException("Stream " + stream.name() + " is " + stored.mode()
                    + " and cannot be relayed as " + mode
                    + " as well. Relay it by one kind of feed, or change its row in the table of streams.");
        }
    }

    /** @throws OutboxException if the group has no stream at all */
    void requireAny() {
        boolean any = session.run("look for streams of relay group " + group, connection -> {
            try (PreparedStatement statement = connection.prepareStatement(sql.streamsOfGroup)) {
                statement.setString(1, group);
                try (ResultSet rows = statement.executeQuery()) {
                    return rows.next();
                }
            }
        });
        if (!any) {
            throw new OutboxException("Relay group '" + group
                    + "' has no streams, so it would deliver nothing. Declare them with streams(..), or use the"
                    + " default group, which serves every stream that no other group has.");
        }
    }
}
