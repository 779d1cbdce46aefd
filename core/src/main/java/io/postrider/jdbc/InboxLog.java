// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** Log lines about events that come again: a fixed sentence, and who it is about in the MDC. Thread-safe. */
final class InboxLog {
    private static final Logger log = LoggerFactory.getLogger(JdbcInbox.class);

    private InboxLog() {}

    static void seenBefore(String consumer, UUID eventId) {
        with(
                "consumer",
                consumer,
                () -> with("eventId", eventId.toString(), () -> {
                    log.info("Event seen before, not processed again");
                }));
    }

    /** One line for all of them, since a whole batch may come again. */
    static void seenBefore(String consumer, Set<UUID> eventIds, int of) {
        with("consumer", consumer, () -> {
            log.info("{} of {} events seen before, not processed again", eventIds.size(), of);
            if (log.isDebugEnabled()) {
                eventIds.forEach(id -> with("eventId", id.toString(), () -> log.debug("Event seen before")));
            }
        });
    }

    /** The thread is the caller's, who may have put the same key there. */
    private static void with(String key, String value, Runnable line) {
        String before = MDC.get(key);
        MDC.put(key, value);
        try {
            line.run();
        } finally {
            if (before == null) {
                MDC.remove(key);
            } else {
                MDC.put(key, before);
            }
        }
    }
}
