// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.ops.Backlog;
import io.postrider.ops.Relays;
import io.postrider.relay.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether events can be stored and are being delivered. A destination that does not answer is shown and is not down:
 * restarting the application would not help.
 */
record OutboxHealth(
        Relays relays,
        Backlog backlog,
        PostriderProperties.Health limits,
        @Nullable RelayLifecycle relay) {
    /** What both versions of Spring Boot make their health of. */
    record Finding(boolean up, Map<String, Object> details) {}

    Finding look() {
        Map<String, Object> details = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        lookHere(details, problems);
        try {
            lookAtTables(details, problems);
        } catch (OutboxException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        if (!problems.isEmpty()) {
            details.put("problems", problems);
        }
        return new Finding(problems.isEmpty(), details);
    }

    private void lookHere(Map<String, Object> details, List<String> problems) {
        if (relay == null) {
            details.put("relay", "disabled in this application");
            return;
        }
        Optional<Duration> starting = relay.starting();
        if (starting.isPresent()) {
            details.put("relay", "starting");
            if (starting.get().compareTo(limits.maxCycleAge()) > 0) {
                problems.add("The relay of this application has not been able to start for "
                        + starting.get().toSeconds() + " s; its log says why.");
            }
            return;
        }
        Optional<Relay> running = relay.relay();
        details.put("relay", running.map(Relay::name).orElse("not running"));
        if (running.isEmpty()) {
            problems.add("The relay of this application does not run.");
            return;
        }
        Relay here = running.get();
        Duration silent = here.sinceLastTurn();
        details.put("inFlight", here.inFlight());
        details.put("published", here.publishedCount());
        if (silent.compareTo(limits.maxCycleAge()) > 0) {
            problems.add("Relay " + here.name() + " has been stuck for " + silent.toSeconds() + " s.");
        }
    }

    private void lookAtTables(Map<String, Object> details, List<String> problems) {
        List<Relays.Member> alive =
                relays.members().stream().filter(Relays.Member::alive).toList();
        details.put("relaysAlive", alive.size());
        details.put(
                "streamsWithoutDestination",
                alive.stream()
                        .flatMap(each -> each.closed().stream())
                        .distinct()
                        .toList());
        // Counts need not go further than what is too many.
        long enough = Math.max(limits.maxDead(), limits.maxHeldKeys()) + 1;
        backlog.upTo(enough).streams().forEach(each -> lookAt(each, alive, problems));
    }

    private void lookAt(Backlog.Stream stream, List<Relays.Member> alive, List<String> problems) {
        if (stream.dead() > limits.maxDead()) {
            problems.add("Stream " + stream.name() + " has more than " + limits.maxDead() + " dead events.");
        }
        if (stream.heldKeys() > limits.maxHeldKeys()) {
            problems.add("Stream " + stream.name() + " has more than " + limits.maxHeldKeys() + " held keys.");
        }
        Duration waits = stream.oldest().orElse(Duration.ZERO);
        if (alive.stream().noneMatch(each -> each.serves(stream)) && waits.compareTo(limits.maxCycleAge()) > 0) {
            problems.add("Stream " + stream.name() + " has no relay, and its oldest event has waited for "
                    + waits.toSeconds() + " s.");
        }
    }
}
