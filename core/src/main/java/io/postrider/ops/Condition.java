// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** Something that people want to be told of, with its threshold. A pure function of what was seen at one look. */
public sealed interface Condition {
    AlertKind kind();

    /** Of which streams or relays it holds. */
    List<Finding> find(Situation seen);

    /** What is said when it no longer holds of this one. */
    String over(String subject);

    /** All of them, with the thresholds that are the defaults. */
    static List<Condition> all() {
        return List.of(
                new Dead(),
                new Pending(10_000),
                new Retrying(100),
                new Oldest(Duration.ofMinutes(15)),
                new KeyHeld(Duration.ofHours(1)),
                new RelaySilent(Duration.ofSeconds(30)),
                new NoRelay(Duration.ofMinutes(1)),
                new DestinationDown());
    }

    /**
     * One of which it holds.
     *
     * @param newest when it last got worse, if that is known: what is newer than the last message is told before the
     *     next reminder
     */
    record Finding(String subject, long value, String text, Optional<Instant> newest) {
        Finding(String subject, long value, String text) {
            this(subject, value, text, Optional.empty());
        }
    }

    /** Events are dead. */
    record Dead() implements Condition {
        @Override
        public AlertKind kind() {
            return AlertKind.DEAD_LETTERS;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return seen.dead().stream()
                    .map(each -> new Finding(
                            each.stream(),
                            each.count(),
                            each.count() + (each.more() ? " or more" : "") + " dead in stream " + each.stream(),
                            Optional.of(each.newest())))
                    .toList();
        }

        @Override
        public String over(String subject) {
            return "Stream " + subject + " has no dead letters any more";
        }
    }

    /** More events of a stream are pending than this. */
    record Pending(long moreThan) implements Condition {
        public Pending {
            positive("pending events", moreThan);
        }

        @Override
        public AlertKind kind() {
            return AlertKind.PENDING;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return streams(
                    seen,
                    stream -> stream.pending() > moreThan,
                    Backlog.Stream::pending,
                    stream -> seen.counted(stream.pending()) + " pending in stream " + stream.name() + paused(stream));
        }

        @Override
        public String over(String subject) {
            return "Stream " + subject + " has no more than " + moreThan + " pending";
        }
    }

    /** More events of a stream have failed and are tried again than this. */
    record Retrying(long moreThan) implements Condition {
        public Retrying {
            positive("retrying events", moreThan);
        }

        @Override
        public AlertKind kind() {
            return AlertKind.RETRYING;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return streams(
                    seen,
                    stream -> stream.retrying() > moreThan,
                    Backlog.Stream::retrying,
                    stream -> seen.counted(stream.retrying()) + " failed and retrying in stream " + stream.name());
        }

        @Override
        public String over(String subject) {
            return "Stream " + subject + " has no more than " + moreThan + " retrying";
        }
    }

    /** The oldest undelivered event of a stream that is neither dead nor delayed is older than this. */
    record Oldest(Duration olderThan) implements Condition {
        public Oldest {
            positive("the age of the oldest event", olderThan.toMillis());
        }

        @Override
        public AlertKind kind() {
            return AlertKind.OLDEST;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return streams(
                    seen,
                    stream -> longer(stream.oldest(), olderThan),
                    stream -> stream.oldest().orElse(Duration.ZERO).toSeconds(),
                    stream -> "The oldest event of stream " + stream.name() + " waits for "
                            + stream.oldest().orElse(Duration.ZERO).toSeconds() + " s" + paused(stream));
        }

        @Override
        public String over(String subject) {
            return "No event of stream " + subject + " waits for longer than " + olderThan.toSeconds() + " s";
        }
    }

    /** A key is held for longer than this: nothing of it is delivered. */
    record KeyHeld(Duration longerThan) implements Condition {
        public KeyHeld {
            positive("the time a key is held", longerThan.toMillis());
        }

        @Override
        public AlertKind kind() {
            return AlertKind.HELD_KEY;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return seen.held().stream()
                    .map(each -> new Finding(
                            each.stream(),
                            each.keys(),
                            each.keys() + " keys of stream " + each.stream() + " are held for longer than "
                                    + longerThan.toSeconds() + " s, " + each.longest() + " for longest ("
                                    + each.since().toSeconds() + " s)"))
                    .toList();
        }

        @Override
        public String over(String subject) {
            return "No key of stream " + subject + " is held for longer than " + longerThan.toSeconds() + " s";
        }
    }

    /** A relay's lease has run out, and it has been silent for longer than this. */
    record RelaySilent(Duration longerThan) implements Condition {
        @Override
        public AlertKind kind() {
            return AlertKind.RELAY_SILENT;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return seen.relays().stream()
                    .filter(each -> !each.alive() && each.silentFor().compareTo(longerThan) > 0)
                    .collect(Collectors.toMap(Relays.Member::name, each -> each, (one, other) -> one))
                    .values()
                    .stream()
                    .map(each -> new Finding(
                            each.name(),
                            each.silentFor().toSeconds(),
                            "Relay " + each.name() + " of group " + each.group() + " is silent for "
                                    + each.silentFor().toSeconds() + " s: it died or hangs"))
                    .toList();
        }

        @Override
        public String over(String subject) {
            return "Relay " + subject + " is back, or was replaced";
        }
    }

    /** A stream has undelivered events, the oldest older than this, and no live relay. */
    record NoRelay(Duration after) implements Condition {
        @Override
        public AlertKind kind() {
            return AlertKind.NO_RELAY;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return streams(
                    seen,
                    stream -> longer(stream.oldest(), after)
                            && seen.relays().stream().noneMatch(each -> each.serves(stream)),
                    stream -> stream.pending() + stream.retrying() + stream.leased(),
                    stream -> "Stream " + stream.name() + " has undelivered events and no relay of group "
                            + stream.group().orElse("default") + " is alive");
        }

        @Override
        public String over(String subject) {
            return "Stream " + subject + " has a relay again, or nothing to deliver";
        }
    }

    /** The destination of a stream does not answer a live relay. */
    record DestinationDown() implements Condition {
        @Override
        public AlertKind kind() {
            return AlertKind.DESTINATION_DOWN;
        }

        @Override
        public List<Finding> find(Situation seen) {
            return seen.relays().stream()
                    .filter(Relays.Member::alive)
                    .flatMap(each -> each.closed().stream())
                    .collect(Collectors.groupingBy(stream -> stream, Collectors.counting()))
                    .entrySet()
                    .stream()
                    .map(each -> new Finding(
                            each.getKey(),
                            each.getValue(),
                            "The destination of stream " + each.getKey() + " does not answer " + each.getValue()
                                    + " relays; nothing is lost"))
                    .toList();
        }

        @Override
        public String over(String subject) {
            return "The destination of stream " + subject + " is not known to be down any more";
        }
    }

    private static List<Finding> streams(
            Situation seen,
            Predicate<Backlog.Stream> holds,
            ToLongFunction<Backlog.Stream> value,
            Function<Backlog.Stream, String> text) {
        return seen.streams().stream()
                .filter(holds)
                .map(each -> new Finding(each.name(), value.applyAsLong(each), text.apply(each)))
                .toList();
    }

    private static boolean longer(Optional<Duration> age, Duration than) {
        return age.isPresent() && age.get().compareTo(than) > 0;
    }

    private static String paused(Backlog.Stream stream) {
        return stream.pause()
                .map(each -> " (paused by " + each.by() + ": " + each.reason() + ")")
                .orElse("");
    }

    private static void positive(String what, long threshold) {
        if (threshold < 1) {
            throw new IllegalArgumentException("The threshold for " + what + " must be positive, not " + threshold
                    + ". To be told of nothing of the kind, leave the condition out.");
        }
    }
}
