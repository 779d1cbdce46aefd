// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Compares the committed events with the deliveries, one delivery after the other; used once, by one thread. */
final class LedgerCheck {
    private static final int SHOWN = 5;

    private final Map<UUID, Row> committed;
    private final Map<UUID, DeliveryLog.Entry> first = new HashMap<>();
    private final Map<String, Long> highest = new HashMap<>();
    private final Set<UUID> ghosts = new HashSet<>();
    private final Map<Kind, List<String>> offenders = new EnumMap<>(Kind.class);
    private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);

    /** A committed event. */
    record Row(String key, long seq, long payloadHash) {}

    private enum Kind {
        LOST,
        GHOST,
        OUT_OF_ORDER,
        DUPLICATE,
        NOT_IDENTICAL
    }

    LedgerCheck(Map<UUID, Row> committed) {
        this.committed = committed;
    }

    LedgerReport of(List<DeliveryLog.Entry> deliveries) {
        deliveries.forEach(this::delivered);
        committed.forEach((id, row) -> {
            if (!first.containsKey(id)) {
                found(Kind.LOST, "lost: " + named(id, row) + " was committed and not delivered");
            }
        });
        List<String> shown = new ArrayList<>();
        offenders.values().forEach(shown::addAll);
        return new LedgerReport(
                committed.size(),
                first.size(),
                count(Kind.LOST),
                count(Kind.GHOST),
                count(Kind.OUT_OF_ORDER),
                count(Kind.DUPLICATE),
                count(Kind.NOT_IDENTICAL),
                shown);
    }

    private void delivered(DeliveryLog.Entry entry) {
        UUID id = entry.eventId();
        Row row = committed.get(id);
        if (row == null) {
            if (ghosts.add(id)) {
                found(
                        Kind.GHOST,
                        "ghost: event " + id + " (key " + entry.key() + ", number " + entry.seq()
                                + ") was delivered at " + entry.at() + " and never committed");
            }
            return;
        }
        DeliveryLog.Entry before = first.putIfAbsent(id, entry);
        if (before == null) {
            deliveredFirst(entry, row);
        } else {
            found(Kind.DUPLICATE, "duplicate: " + named(id, row) + " came at " + before.at() + " and " + entry.at());
            if (before.payloadHash() != entry.payloadHash() || before.headersHash() != entry.headersHash()) {
                found(
                        Kind.NOT_IDENTICAL,
                        "not identical: " + named(id, row) + " came with another "
                                + (before.payloadHash() == entry.payloadHash() ? "header" : "payload") + " at "
                                + entry.at());
            }
        }
    }

    private void deliveredFirst(DeliveryLog.Entry entry, Row row) {
        long before = highest.getOrDefault(row.key, 0L);
        if (row.seq < before) {
            found(
                    Kind.OUT_OF_ORDER,
                    "out of order: " + named(entry.eventId(), row) + " came at " + entry.at() + " after number "
                            + before);
        } else {
            highest.put(row.key, row.seq);
        }
        if (entry.payloadHash() != row.payloadHash) {
            found(
                    Kind.NOT_IDENTICAL,
                    "not identical: " + named(entry.eventId(), row) + " came with a payload that was not written");
        }
    }

    private static String named(UUID id, Row row) {
        return "event " + id + " (key " + row.key + ", number " + row.seq + ")";
    }

    private void found(Kind kind, String description) {
        counts.merge(kind, 1L, Long::sum);
        List<String> shown = offenders.computeIfAbsent(kind, any -> new ArrayList<>());
        if (shown.size() < SHOWN) {
            shown.add(description);
        }
    }

    private long count(Kind kind) {
        return counts.getOrDefault(kind, 0L);
    }
}
