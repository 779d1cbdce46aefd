// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.OutboxException;
import io.postrider.ops.Backlog;
import io.postrider.ops.History;
import io.postrider.ops.Relays;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the database for all who watch, at most once a second however many they are, and not at all if nobody does. If
 * a look takes long, the next comes later, so that looking never takes more than a fifth of one session's time until the
 * numbers would be five seconds old. Thread-safe.
 */
final class Sampler {
    static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int POINTS = 900;
    /** Of one stream and state; a look at ten streams that are stuck takes a tenth of a second. */
    private static final long COUNTED = 25_000;

    private final Backlog backlog;
    private final Relays relays;
    private final History history;
    private final Deque<Point> points = new ArrayDeque<>();
    private @Nullable Sample latest;
    private String trouble = "";
    private long looks;
    private long due = System.nanoTime();

    Sampler(Storage storage) {
        backlog = Backlog.of(storage.dataSource(), storage.tables()).upTo(COUNTED);
        relays = Relays.of(storage.dataSource(), storage.tables());
        history = History.of(storage.dataSource(), storage.tables());
    }

    /** One place on the charts. */
    record Point(Instant at, Sample sample) {}

    /**
     * The latest sample there is.
     *
     * @param trouble why there is none, or none newer; empty if all is well
     */
    record View(Optional<Sample> sample, String trouble, long looks, Duration nextIn) {}

    /** Looks if the last look is old enough; all who ask meanwhile wait for the same look. */
    synchronized View view() {
        if (System.nanoTime() - due >= 0) {
            look();
        }
        Duration nextIn = Duration.ofNanos(Math.max(0, due - System.nanoTime()));
        return new View(Optional.ofNullable(latest), trouble, looks, nextIn);
    }

    /** What was seen in the last quarter of an hour, as far as somebody was looking. */
    synchronized List<Point> points() {
        return List.copyOf(points);
    }

    private void look() {
        long start = System.nanoTime();
        looks++;
        try {
            List<Relays.Member> members = relays.members();
            List<History.Recent> recent = history.recent();
            Instant now = Instant.now();
            Sample sample = new Sample(
                    looks, now, backlog.bound(), backlog.streams(), members, recent, rate(members, recent, now));
            latest = sample;
            trouble = "";
            points.addLast(new Point(now, sample));
            if (points.size() > POINTS) {
                points.removeFirst();
            }
        } catch (OutboxException e) {
            trouble = String.valueOf(e.getMessage());
        }
        long took = System.nanoTime() - start;
        due = start + Math.min(LONGEST.toNanos(), Math.max(SHORTEST.toNanos(), 5 * took));
    }

    /** By what the relays have counted since the last look; after a pause by the history. */
    private Optional<Double> rate(List<Relays.Member> members, List<History.Recent> recent, Instant now) {
        Sample before = latest;
        if (before == null || Duration.between(before.at(), now).compareTo(LONGEST.multipliedBy(2)) > 0) {
            return recent.stream()
                    .filter(each -> each.stream().isEmpty())
                    .map(History.Recent::perSecond)
                    .findFirst();
        }
        Map<Long, Long> counted =
                before.relays().stream().collect(Collectors.toMap(Relays.Member::id, Relays.Member::published));
        long more = members.stream()
                .mapToLong(each -> each.published()
                        - counted.getOrDefault(each.id(), each.startedAt().isAfter(before.at()) ? 0 : each.published()))
                .sum();
        double seconds = Duration.between(before.at(), now).toMillis() / 1000.0;
        return Optional.of(Math.max(0, more / Math.max(0.1, seconds)));
    }
}
