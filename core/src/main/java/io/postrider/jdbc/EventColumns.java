// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.internal.HeaderJson;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The columns of an event, which stand in the same places in all statements that read some. What is the same in row after
 * row is the same object, so that it is kept once and its hash is computed once. For one thread.
 */
final class EventColumns {
    private static final String GAP_HEADER = "postrider-gap";

    private final ResultSet rows;
    private String stream;
    private String type = "";
    private String aggregateType = "";
    private String contentType = "";

    EventColumns(ResultSet rows) {
        this(rows, "");
    }

    /** @param stream that of the rows that name none */
    EventColumns(ResultSet rows, String stream) {
        this.rows = rows;
        this.stream = stream;
    }

    /** The event of the row where the result stands. */
    OutboxEvent event() throws SQLException {
        String named = rows.getString(7);
        stream = named == null ? stream : sameOrNew(stream, named);
        type = sameOrNew(type, rows.getString(9));
        aggregateType = sameOrNew(aggregateType, orEmpty(rows.getString(10)));
        OutboxEvent.Builder event = OutboxEvent.of(stream, type);
        event.id(rows.getObject(2, UUID.class));
        // Another writer may have given one half of it.
        event.aggregate(aggregateType, orEmpty(rows.getString(11)));
        String key = rows.getString(8);
        if (key == null) {
            event.unkeyed();
        } else {
            event.key(key);
        }
        byte[] payload = rows.getBytes(12);
        String storedType = rows.getString(13);
        if (payload != null && storedType != null) {
            contentType = sameOrNew(contentType, storedType);
            event.payload(payload, contentType);
        } else if (payload != null) {
            event.payload(payload);
        }
        event.headers(HeaderJson.read(rows.getString(14)));
        String gap = rows.getString(19);
        if (gap != null) {
            event.header(GAP_HEADER, gap);
        }
        event.occurredAt(rows.getObject(15, OffsetDateTime.class).toInstant());
        int maxAttempts = rows.getInt(16);
        if (!rows.wasNull()) {
            event.maxAttempts(maxAttempts);
        }
        return event.buildStored();
    }

    private static String sameOrNew(String before, String now) {
        return before.equals(now) ? before : now;
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
