// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.HeaderJson;
import io.postrider.internal.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an event says.
 *
 * @param payload null for a tombstone, or if it was not kept
 * @param payloadKept false if the stream's history is kept without payloads
 */
@SuppressWarnings("ArrayRecordComponent") // read once to be shown, compared by nobody
public record EventContent(
        byte @Nullable [] payload, boolean payloadKept, Optional<String> contentType, Map<String, String> headers) {

    static EventContent of(ResultSet row) throws SQLException {
        return new EventContent(
                row.getBytes(1), row.getBoolean(2), Rows.maybeText(row, 3), HeaderJson.read(row.getString(4)));
    }
}
