// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What is done about what is old. Give the same in all applications of one database: one of them does it.
 *
 * @param enabled Whether this application prunes; if not, others must. Partitions of the history are made anyway.
 * @param oldHistory What becomes of delivered events that are older than postrider.relay.keep-history.
 * @param keepAudit How long it is known who did what by hand, 30 days at least.
 * @param keepInbox How long it is known what consumers have processed: a day at least, and as long as events can be
 *     replayed or are tried again; unless set, it is never forgotten.
 * @param dailyAt When it is done; by default at 02:00.
 * @param zone Time zone of that; by default UTC.
 */
public record HousekeepingProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("drop") OldHistory oldHistory,
        @DefaultValue("365d") Duration keepAudit,
        @Nullable Duration keepInbox,
        @Nullable LocalTime dailyAt,
        @Nullable ZoneId zone) {
    /** Not as a text: to read a time, all that is known about the locale would be loaded at each start. */
    static final LocalTime DAILY_AT = LocalTime.of(2, 0);

    /** What becomes of the history. */
    public enum OldHistory {
        /** Whole days are dropped. */
        DROP,
        /** Rows are deleted in small batches. */
        DELETE,
        /** Rows are moved to outbox_archive in small batches. */
        ARCHIVE
    }
}
