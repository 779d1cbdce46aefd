// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One gate per stream. A gate closes when the stream's destination takes nothing; its events then wait without losing an
 * attempt, and one event at a time, of different keys in turn, is sent to try. The first success opens it. Thread-safe:
 * shared by the loops of a relay.
 */
final class Gates {
    private static final long FIRST_TRIAL = Duration.ofMillis(200).toNanos();
    private static final long LAST_TRIAL = Duration.ofSeconds(3).toNanos();
    /** What a destination may ask for; a mistake there must not silence a stream for days. */
    private static final Duration LONGEST_WISH = Duration.ofMinutes(10);
    /** So many different events refused in a row say more about the destination than about the events. */
    private static final int REFUSALS = 10;

    private final Map<String, Gate> gates = new HashMap<>();
    private final RandomGenerator random;
    /** Whether there is any gate at all: asked for every success, so without the lock. */
    private volatile boolean any;

    Gates(RandomGenerator random) {
        this.random = random;
    }

    private static final class Gate {
        boolean closed;
        boolean trialUnderWay;

        @Nullable
        Delivery trial;

        long closedAt;
        long delay;
        long trialAt;
        final Set<UUID> refused = new HashSet<>();
        final Set<String> tried = new HashSet<>();
    }

    /**
     * The destination did not take this delivery; returns whether this closed the gate, rather than finding it closed.
     * What was sent before the gate closed may fail at any time later: that says nothing about the trial under way.
     */
    synchronized boolean down(Delivery delivery, Optional<Duration> retryAfter, long now) {
        Gate gate = gate(delivery.event().stream());
        boolean closes = !gate.closed;
        if (closes) {
            gate.closed = true;
            gate.closedAt = now;
            gate.delay = FIRST_TRIAL;
            gate.trialAt = now + jittered(gate.delay);
        } else if (gate.trial == delivery) {
            gate.delay = Math.min(gate.delay * 2, LAST_TRIAL);
            gate.trialAt = now + jittered(gate.delay);
            gate.trialUnderWay = false;
            gate.trial = null;
        }
        retryAfter.ifPresent(asked -> gate.trialAt =
                Math.max(gate.trialAt, now + atMost(LONGEST_WISH, asked).toNanos()));
        return closes;
    }

    /** The destination refused this event for good; returns whether the destination itself is the suspect now. */
    synchronized boolean refused(String stream, UUID event) {
        Gate gate = gate(stream);
        gate.refused.add(event);
        return gate.refused.size() >= REFUSALS;
    }

    /** The destination took an event; returns how long the gate was closed, if this opened it. */
    Optional<Duration> succeeded(String stream, long now) {
        return any ? opened(stream, now) : Optional.empty();
    }

    private synchronized Optional<Duration> opened(String stream, long now) {
        Gate gate = gates.remove(stream);
        any = !gates.isEmpty();
        return gate != null && gate.closed ? Optional.of(Duration.ofNanos(now - gate.closedAt)) : Optional.empty();
    }

    boolean isClosed(String stream) {
        return any && closes(stream);
    }

    private synchronized boolean closes(String stream) {
        Gate gate = gates.get(stream);
        return gate != null && gate.closed;
    }

    synchronized Set<String> closed() {
        Set<String> closed = new HashSet<>();
        gates.forEach((stream, gate) -> {
            if (gate.closed) {
                closed.add(stream);
            }
        });
        return closed;
    }

    /** A stream whose destination should be tried now; the caller then says {@link #choose}, {@link #tryNext} or {@link #nothingToTry}. */
    synchronized Optional<String> dueForTrial(long now) {
        for (Map.Entry<String, Gate> entry : gates.entrySet()) {
            Gate gate = entry.getValue();
            if (gate.closed && !gate.trialUnderWay && gate.trialAt - now <= 0) {
                gate.trialUnderWay = true;
                return Optional.of(entry.getKey());
            }
        }
        return Optional.empty();
    }

    /** Chooses what to try: the first whose key has not been tried lately. */
    synchronized Delivery choose(String stream, List<Delivery> heads) {
        Gate gate = gate(stream);
        Delivery chosen = heads.stream()
                .filter(head -> !gate.tried.contains(triedAs(head)))
                .findFirst()
                .orElseGet(() -> {
                    gate.tried.clear();
                    return heads.get(0);
                });
        gate.tried.add(triedAs(chosen));
        gate.trial = chosen;
        return chosen;
    }

    /** This delivery was not sent after all; if it was a trial, another is due. */
    synchronized void gaveUp(Delivery delivery) {
        Gate gate = gates.get(delivery.event().stream());
        if (gate != null && gate.trial == delivery) {
            gate.trial = null;
            gate.trialUnderWay = false;
        }
    }

    synchronized void nothingToTry(String stream, long now) {
        Gate gate = gate(stream);
        gate.trialUnderWay = false;
        gate.trialAt = now + jittered(gate.delay);
    }

    /** What was looked at was judged instead of tried: what is behind it may be tried at once. */
    synchronized void tryNext(String stream, long now) {
        Gate gate = gate(stream);
        gate.trialUnderWay = false;
        gate.trialAt = now;
    }

    /** In how long the next trial is due. */
    synchronized long nanosToTrial(long now) {
        long least = Long.MAX_VALUE;
        for (Gate gate : gates.values()) {
            if (gate.closed && !gate.trialUnderWay) {
                least = Math.min(least, Math.max(0, gate.trialAt - now));
            }
        }
        return least;
    }

    private Gate gate(String stream) {
        any = true;
        return gates.computeIfAbsent(stream, s -> new Gate());
    }

    private static Duration atMost(Duration most, Duration asked) {
        return asked.compareTo(most) > 0 ? most : asked;
    }

    private long jittered(long nanos) {
        return (long) (nanos * (0.8 + 0.4 * random.nextDouble()));
    }

    private static String triedAs(Delivery head) {
        return head.event().key().orElseGet(() -> head.event().id().toString());
    }
}
