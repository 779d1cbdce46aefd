// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What was asked for on the command line. Immutable. */
final class Options {
    static final String USAGE = """
            usage: ./bench drain|latency|append|inbox|idle|held|queue|due|dashboard|startup [options]

              --rounds N        measured rounds of each variant, in turns, after a warm-up (5)
              --variants A,B    only these variants
              --json            one JSON object per line instead of a table

            drain: a backlog is delivered to Kafka and removed
              --events N        events per round (500000)
              --loops N         loops of the relay (1)
              --history H       on, no-payload or off, for the options below (off)
              --backlog N       also so many events, by a relay in a JVM of its own, against --events
              --heap SIZE       its heap, such as 256m
              --relays N        also N relays in JVMs of their own, against one

            latency: from commit until a consumer has it
              --events N        events per round (2000)
              --rate N          events per second (200)

            append: transactions per second with and without an event
              --threads N       (16)
              --seconds N       per round (5)
              --warm-up N       seconds of each variant before the rounds (10)

            inbox: transactions per second with and without a note of the event that was processed
              --threads N       (16)
              --seconds N       per round (5)

            idle: statements per second of a relay that has nothing to do
              --loops N         loops of the relay (1)
              --seconds N       per round (20)

            held: a backlog is removed while a key fails for ever
              --events N        events of other keys per round (200000)
              --backlog N       events behind the one that fails (100000)

            queue: a backlog is taken, answered at once, and removed
              --events N        events per round (200000); a tenth where each has a transaction of its own
              --loops N         loops of the relay (1; 3 where events compete)
              --connections N   transactions at once, of handlers and of what they are compared with (8)

            due: how long after its time an event starts that was committed a second or more before
              --events N        events per round, 50 a second (500)

            dashboard: how long its pages take while much is stuck and events are published
              --events N        undelivered events (1000000)
              --delivered N     events in the history (10000000)
              --rate N          events published per second meanwhile (2000)
              --requests N      requests for each page in a round (20)

            startup: how long a small application of Spring Boot takes to start, with and without the starter (10 rounds)
            """;

    private static final Map<String, Set<String>> KNOWN = Map.of(
            "drain", Set.of("events", "loops", "history", "backlog", "heap", "relays"),
            "latency", Set.of("events", "rate"),
            "append", Set.of("threads", "seconds", "warm-up"),
            "inbox", Set.of("threads", "seconds"),
            "idle", Set.of("loops", "seconds"),
            "held", Set.of("events", "backlog"),
            "queue", Set.of("events", "loops", "connections"),
            "due", Set.of("events"),
            "dashboard", Set.of("events", "delivered", "rate", "requests"),
            "startup", Set.of());
    private static final Set<String> COMMON = Set.of("rounds", "variants", "json");

    private final String scenario;
    private final Map<String, String> given;

    private Options(String scenario, Map<String, String> given) {
        this.scenario = scenario;
        this.given = given;
    }

    /** @throws IllegalArgumentException saying what is wrong */
    static Options parse(String... args) {
        if (args.length == 0) {
            throw new IllegalArgumentException("Nothing to measure was named.");
        }
        Set<String> own = KNOWN.get(args[0]);
        if (own == null) {
            throw new IllegalArgumentException("Unknown scenario " + args[0] + ".");
        }
        Map<String, String> given = new HashMap<>();
        for (int i = 1; i < args.length; i++) {
            String name = args[i].startsWith("--") ? args[i].substring(2) : "";
            if (!own.contains(name) && !COMMON.contains(name)) {
                throw new IllegalArgumentException("Unknown argument " + args[i] + " for " + args[0] + ".");
            }
            if (name.equals("json")) {
                given.put(name, "true");
            } else if (++i == args.length) {
                throw new IllegalArgumentException("--" + name + " needs a value.");
            } else {
                given.put(name, args[i]);
            }
        }
        Options options = new Options(args[0], given);
        options.check();
        return options;
    }

    private void check() {
        given.keySet().stream()
                .filter(name -> !Set.of("variants", "json", "history", "heap").contains(name))
                .forEach(name -> number(name, 1));
        String history = text("history").orElse("off");
        if (!Set.of("on", "no-payload", "off").contains(history)) {
            throw new IllegalArgumentException("--history is on, no-payload or off, not " + history + ".");
        }
        text("heap").filter(heap -> !heap.matches("[1-9][0-9]*[kmgKMG]?")).ifPresent(heap -> {
            throw new IllegalArgumentException("--heap is a size such as 256m, not " + heap + ".");
        });
    }

    String scenario() {
        return scenario;
    }

    boolean json() {
        return given.containsKey("json");
    }

    int rounds() {
        return number("rounds", 5);
    }

    int number(String name, int otherwise) {
        String value = given.get(name);
        if (value == null) {
            return otherwise;
        }
        if (!value.matches("[1-9][0-9]{0,8}")) {
            throw new IllegalArgumentException("--" + name + " is a whole number from 1 on, not " + value + ".");
        }
        return Integer.parseInt(value);
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(given.get(name));
    }

    /** Those of all variants that were asked for. */
    List<String> variants(List<String> all) {
        if (!given.containsKey("variants")) {
            return all;
        }
        List<String> wanted = Arrays.asList(text("variants").orElse("").split(","));
        wanted.stream().filter(name -> !all.contains(name)).findFirst().ifPresent(name -> {
            throw new IllegalArgumentException(
                    "Unknown variant " + name + "; there are " + String.join(", ", all) + ".");
        });
        return all.stream().filter(wanted::contains).toList();
    }
}
