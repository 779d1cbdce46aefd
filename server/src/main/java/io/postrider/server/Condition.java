// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Backlog;
import io.postrider.ops.Checkup.Level;
import io.postrider.ops.Relays;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Whether all is well, in one look at a sample; what is wrong, the worst first. */
final class Condition {
    private static final Duration LATE = Duration.ofMinutes(1);

    private final List<Item> items = new ArrayList<>();

    /** @param page where the dashboard tells more */
    record Item(Level level, String text, String page) {}

    private Condition() {}

    static List<Item> of(Sampler.View view) {
        Condition condition = new Condition();
        if (!view.trouble().isEmpty()) {
            condition.add(Level.PROBLEM, view.trouble(), "problems");
        }
        view.sample().ifPresent(condition::look);
        condition.items.sort((a, b) -> b.level().compareTo(a.level()));
        return condition.items;
    }

    private void add(Level level, String text, String page) {
        items.add(new Item(level, text, page));
    }

    private void look(Sample sample) {
        List<Relays.Member> alive =
                sample.relays().stream().filter(Relays.Member::alive).toList();
        if (alive.stream()
                .noneMatch(each -> each.wants().equals("SHARDS") || each.wants().equals("CLAIMS"))) {
            add(Level.PROBLEM, "No relay is running: nothing is delivered.", "relays");
        }
        alive.stream()
                .flatMap(each -> each.closed().stream())
                .distinct()
                .forEach(stream -> add(
                        Level.PROBLEM,
                        "The destination of " + stream
                                + " does not answer. Nothing is lost; delivery goes on when it does.",
                        "relays"));
        sample.relays().stream()
                .filter(each -> !each.alive())
                .forEach(each -> add(
                        Level.WARNING,
                        "Relay " + each.name() + " has been silent for "
                                + each.silentFor().toSeconds() + " s.",
                        "relays"));
        sample.streams().forEach(this::look);
        if (sample.dead() > 0) {
            add(
                    Level.WARNING,
                    number(sample.dead(), sample.bound())
                            + (sample.dead() == 1 ? " dead letter waits" : " dead letters wait") + " for a person.",
                    "dead");
        }
        if (sample.unknown() > 0) {
            add(
                    Level.WARNING,
                    "Of " + number(sample.unknown(), sample.bound())
                            + (sample.unknown() == 1 ? " event" : " events")
                            + " nobody knows whether it had its effect; they wait until somebody has found out.",
                    "events?state=UNKNOWN");
        }
    }

    private void look(Backlog.Stream stream) {
        if (stream.pause().isPresent()) {
            Backlog.Pause pause = stream.pause().get();
            add(Level.WARNING, stream.name() + " is paused by " + pause.by() + ": " + pause.reason(), "streams");
        } else if (stream.oldest().filter(each -> each.compareTo(LATE) > 0).isPresent()) {
            add(
                    Level.WARNING,
                    "The oldest event of " + stream.name() + " has been waiting for "
                            + stream.oldest().get().toMinutes() + " min.",
                    "events?stream=" + URLEncoder.encode(stream.name(), StandardCharsets.UTF_8));
        }
    }

    private static String number(long number, long bound) {
        return String.format(Locale.ROOT, "%,d", number) + (number >= bound ? "+" : "");
    }
}
