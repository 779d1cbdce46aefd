// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Backlog;
import io.postrider.ops.History;
import io.postrider.ops.Relays;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Everything at a glance, as it was at one time.
 *
 * @param number counts the samples
 * @param bound where counts stop
 * @param publishedPerSecond empty if there is nothing to tell it from
 */
record Sample(
        long number,
        Instant at,
        long bound,
        List<Backlog.Stream> streams,
        List<Relays.Member> relays,
        List<History.Recent> recent,
        Optional<Double> publishedPerSecond) {

    /** What is to be delivered, now or later; the dead are not. */
    long backlog() {
        return streams.stream().mapToLong(Backlog.Stream::undelivered).sum();
    }

    /** Whether some count stopped at the bound. */
    boolean isBounded() {
        return streams.stream().anyMatch(each -> each.pending() >= bound || each.retrying() + each.delayed() >= bound);
    }

    long dead() {
        return streams.stream().mapToLong(Backlog.Stream::dead).sum();
    }

    long unknown() {
        return streams.stream().mapToLong(Backlog.Stream::unknown).sum();
    }

    long heldKeys() {
        return streams.stream().mapToLong(Backlog.Stream::heldKeys).sum();
    }

    Optional<Duration> oldest() {
        return streams.stream().flatMap(each -> each.oldest().stream()).max(Comparator.naturalOrder());
    }

    Optional<History.Recent> latency() {
        return recent.stream().filter(each -> each.stream().isEmpty()).findFirst();
    }

    Optional<History.Recent> latency(String stream) {
        return recent.stream()
                .filter(each -> each.stream().filter(stream::equals).isPresent())
                .findFirst();
    }
}
