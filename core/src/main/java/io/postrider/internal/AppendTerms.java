// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

/**
 * What events that expire or have a dedup key add to the statements that append, so that others cost no more for it.
 *
 * <p>With a dedup key two indexes can say that an event is there already, so none is named in ON CONFLICT. To name one, its
 * columns and those of its predicate would have to be readable for the writer.
 */
final class AppendTerms {
    private AppendTerms() {}

    static String none(String append) {
        return append.replace("{terms}", "").replace("{values of terms}", "");
    }

    static String given(String append) {
        return append.replace("{terms}", ", expires_at, dedup_key")
                .replace("{values of terms}", """
                        ,
                        coalesce(?::timestamptz, clock_timestamp() + ?::bigint * interval '1 microsecond'), ?""")
                .replace("ON CONFLICT (event_id)", "ON CONFLICT");
    }
}
