// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.Discretion;
import io.postrider.ops.AlertStore.Claim;
import io.postrider.ops.AlertStore.Known;
import io.postrider.ops.AlertStore.Topic;
import io.postrider.ops.Condition.Finding;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells one channel what it has not told yet: claims, commits, tells, records. Dying before the claim, nothing happened; dying
 * after it, the next one tells when the claim has run out, once more if it had been told. For one thread at a time.
 */
final class AlertRound {
    private static final Logger log = LoggerFactory.getLogger(AlertRound.class);

    private final AlertChannel channel;
    private final AlertStore store;
    private final Watch watch;
    private final Pace pace;

    /**
     * How often people are told.
     *
     * @param newsEvery at most so often of a subject that got worse, or is so again
     * @param remindEvery of one that stays as it is
     * @param claim after this another may tell what this one has not recorded as told
     */
    record Pace(Duration newsEvery, Duration remindEvery, Duration claim) {}

    AlertRound(AlertChannel channel, AlertStore store, Watch watch, Pace pace) {
        this.channel = channel;
        this.store = store;
        this.watch = watch;
        this.pace = pace;
    }

    /** What is to be told of one subject. */
    private record Due(Finding finding, @Nullable Known known) {
        String subject() {
            return finding.subject();
        }
    }

    void run(Collection<Condition> conditions, Situation seen) {
        Map<Topic, Known> known = store.known();
        for (Condition condition : conditions) {
            due(condition, seen, known).forEach((state, due) -> tell(condition.kind(), state, due, seen));
        }
        store.forget();
    }

    private Map<Alert.State, List<Due>> due(Condition condition, Situation seen, Map<Topic, Known> known) {
        Map<Alert.State, List<Due>> due = new EnumMap<>(Alert.State.class);
        Map<String, Finding> findings =
                condition.find(seen).stream().collect(Collectors.toMap(Finding::subject, Function.identity()));
        String code = condition.kind().code();
        findings.values().forEach(finding -> {
            Known last = known.get(new Topic(code, finding.subject()));
            state(finding, last)
                    .ifPresent(state ->
                            due.computeIfAbsent(state, any -> new ArrayList<>()).add(new Due(finding, last)));
        });
        known.forEach((topic, last) -> {
            if (topic.condition().equals(code)
                    && last.raised()
                    && last.free()
                    && !findings.containsKey(topic.subject())) {
                Finding over = new Finding(topic.subject(), 0, condition.over(topic.subject()));
                due.computeIfAbsent(Alert.State.ENDED, any -> new ArrayList<>()).add(new Due(over, last));
            }
        });
        return due;
    }

    /** Whether something is to be told of what is so, and as what. */
    private Optional<Alert.State> state(Finding finding, @Nullable Known last) {
        if (last == null) {
            return Optional.of(Alert.State.RAISED);
        }
        if (!last.free()) {
            return Optional.empty();
        }
        if (last.toldAgo().isEmpty()) {
            return Optional.of(Alert.State.RAISED);
        }
        Duration ago = last.toldAgo().get();
        boolean news = !last.raised()
                || (finding.newest().isPresent()
                        && (finding.value() > last.toldValue()
                                || finding.newest().get().isAfter(last.toldOf().orElse(Instant.MIN))));
        if (news) {
            return ago.compareTo(pace.newsEvery()) >= 0 ? Optional.of(Alert.State.RAISED) : Optional.empty();
        }
        return ago.compareTo(pace.remindEvery()) >= 0 ? Optional.of(Alert.State.REMINDER) : Optional.empty();
    }

    /** What this process may tell now. */
    private record Mine(Claim claim, Due due) {
        boolean failedBefore() {
            return due.known() != null && due.known().failures() > 0;
        }

        /** Nobody knows that it was so, since the channel failed. */
        boolean untold() {
            return due.known() != null
                    && due.known().failures() > 0
                    && due.known().toldAgo().isEmpty();
        }
    }

    private void tell(AlertKind kind, Alert.State state, List<Due> due, Situation seen) {
        List<Mine> mine = claim(kind, due);
        if (state == Alert.State.ENDED) {
            List<Mine> untold = mine.stream().filter(Mine::untold).toList();
            store.told(kind, claims(untold), false, seen.at());
            mine = mine.stream().filter(each -> !each.untold()).toList();
        }
        if (mine.isEmpty()) {
            return;
        }
        try {
            channel.tell(alert(kind, state, mine.stream().map(Mine::due).toList(), seen.at()));
        } catch (IOException | RuntimeException e) {
            store.failed(kind, claims(mine));
            if (mine.stream().noneMatch(Mine::failedBefore)) {
                log.warn(
                        "Alert channel {} failed and is tried again later, of {}: {}",
                        channel.name(),
                        kind.code(),
                        Discretion.withoutCredentials(String.valueOf(e.getMessage())));
            }
            return;
        }
        store.told(kind, claims(mine), state != Alert.State.ENDED, seen.at());
        if (mine.stream().anyMatch(Mine::failedBefore)) {
            log.info("Alert channel {} works again", channel.name());
        }
    }

    private static List<Claim> claims(List<Mine> mine) {
        return mine.stream().map(Mine::claim).toList();
    }

    private List<Mine> claim(AlertKind kind, List<Due> due) {
        Map<String, Long> revisions = new HashMap<>();
        List<String> fresh = new ArrayList<>();
        due.forEach(each -> {
            if (each.known() == null) {
                fresh.add(each.subject());
            } else {
                revisions.put(each.subject(), each.known().revision());
            }
        });
        Map<String, Long> claimed = new HashMap<>();
        if (!fresh.isEmpty()) {
            claimed.putAll(store.claimNew(kind, fresh, pace.claim()));
        }
        if (!revisions.isEmpty()) {
            claimed.putAll(store.claim(kind, revisions, pace.claim()));
        }
        List<Mine> mine = new ArrayList<>();
        due.stream().sorted(Comparator.comparing(Due::subject)).forEach(each -> {
            Long revision = claimed.get(each.subject());
            if (revision != null) {
                mine.add(new Mine(
                        new Claim(each.subject(), revision, each.finding().value()), each));
            }
        });
        return mine;
    }

    private Alert alert(AlertKind kind, Alert.State state, List<Due> due, Instant at) {
        List<Alert.Subject> subjects = due.stream()
                .limit(Alert.MOST_SUBJECTS)
                .map(Due::finding)
                .map(each -> new Alert.Subject(each.subject(), each.value(), each.text()))
                .toList();
        List<DeadLetter> examples = List.of();
        if (kind == AlertKind.DEAD_LETTERS && state != Alert.State.ENDED) {
            Instant after = state == Alert.State.REMINDER ? Instant.EPOCH : toldOf(due);
            examples = watch.examples(due.stream().map(Due::subject).toList(), after);
        }
        return new Alert(kind, state, at, subjects, due.size(), examples);
    }

    /** Since when there may be some that nobody was told of. */
    private static Instant toldOf(List<Due> due) {
        return due.stream()
                .map(each -> each.known() == null
                        ? Instant.EPOCH
                        : each.known().toldOf().orElse(Instant.EPOCH))
                .min(Instant::compareTo)
                .orElse(Instant.EPOCH);
    }
}
