// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.faults.mutants.Mutants;
import io.postrider.faults.simulator.Simulator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What the script {@code ./faults} runs. */
public final class Faults {
    private static final String USAGE = """
            Usage: ./faults list                  the tests, by id
                   ./faults run T01 T23 ...       some of them
                   ./faults all                   all of them, and a table at the end
                   ./faults mutants [NAME ...]    puts known mistakes into the product, each of which a test must find
                   ./faults simulate --seeds N    the engine alone, in N simulated schedules from --seed on

            --seed N       what random choices are drawn from; another each time unless given
            --long         with the product's default settings and long outages
            --report FILE  writes the table to this file, in Markdown

            docs/RELIABILITY.md says what each test does and what must hold.
            """;

    private final List<String> commands = new ArrayList<>();
    private @Nullable Path report;
    private int seeds = 20_000;

    private Faults() {}

    /** Ends with 0 if everything held, 1 if something did not, 2 if the arguments make no sense. */
    public static void main(String[] args) throws IOException {
        Faults faults = new Faults();
        try {
            faults.parse(args);
            System.exit(faults.run());
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println(USAGE);
            System.exit(2);
        }
    }

    private void parse(String[] args) {
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--seed" -> System.setProperty("faults.seed", String.valueOf(number(args, ++i)));
                case "--seeds" -> seeds = Math.toIntExact(number(args, ++i));
                case "--long" -> System.setProperty("faults.long", "true");
                case "--report" -> report = Path.of(value(args, ++i)).toAbsolutePath();
                case "--help", "-h" -> commands.add(0, "help");
                default -> {
                    if (args[i].startsWith("-")) {
                        throw new IllegalArgumentException("There is no option " + args[i] + ".");
                    }
                    commands.add(args[i]);
                }
            }
        }
    }

    private int run() throws IOException {
        String command = commands.isEmpty() ? "help" : commands.get(0);
        switch (command) {
            case "list" -> {
                Catalogue.all().forEach(test -> System.out.println(test.id() + "  " + test.title()));
                return 0;
            }
            case "run" -> {
                return play(chosen());
            }
            case "all" -> {
                return play(Catalogue.ids());
            }
            case "mutants" -> {
                return Mutants.run(commands.subList(1, commands.size())) ? 0 : 1;
            }
            case "simulate" -> {
                return simulate();
            }
            case "help" -> {
                System.out.println(USAGE);
                return 0;
            }
            default -> throw new IllegalArgumentException("There is no command " + command + ".");
        }
    }

    private int simulate() {
        // Every schedule has its outages, and what they make the engine say would hide the result.
        System.setProperty("org.slf4j.simpleLogger.log.io.postrider", "off");
        long first = Long.getLong("faults.seed", System.currentTimeMillis());
        return Simulator.run(first, seeds, System.out);
    }

    private Set<String> chosen() {
        Set<String> ids = new LinkedHashSet<>(commands.subList(1, commands.size()));
        if (ids.isEmpty()) {
            throw new IllegalArgumentException("Name the tests to run, such as: ./faults run T01 T23");
        }
        Set<String> unknown = new TreeSet<>(ids);
        unknown.removeAll(Catalogue.ids());
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "There is no test " + String.join(", ", unknown) + "; ./faults list shows them all.");
        }
        return ids;
    }

    private int play(Set<String> ids) throws IOException {
        System.setProperty("faults.all", "true");
        Table table = Catalogue.play(ids);
        System.out.println();
        System.out.println(table.asText());
        if (report != null) {
            Files.writeString(report, table.asMarkdown());
            System.out.println("Written to " + report);
        }
        return table.allHeld() ? 0 : 1;
    }

    private static long number(String[] args, int i) {
        String value = value(args, i);
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(args[i - 1] + " needs a number, not " + value + ".", e);
        }
    }

    private static String value(String[] args, int i) {
        if (i >= args.length) {
            throw new IllegalArgumentException(args[i - 1] + " needs a value.");
        }
        return args[i];
    }
}
