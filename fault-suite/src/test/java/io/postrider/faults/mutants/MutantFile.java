// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads mutants as they are written down:
 *
 * <pre>
 * == name
 * What the mistake is, and what it would do.
 * test io.postrider.jdbc.SettleRaceTest#aRowThatChangesMeanwhileStays
 * in core/src/main/java/io/postrider/internal/Sql.java
 * - the lines as they are
 * + the lines as they should not be; nothing in their place: a plus alone
 * </pre>
 *
 * <p>A mutant may have several tests, several changes of a file and several files.
 */
final class MutantFile {
    private static final List<String> FILES = List.of(
            "append.txt",
            "terms.txt",
            "leases.txt",
            "competing.txt",
            "statements.txt",
            "ownership.txt",
            "quarantine.txt",
            "engine.txt",
            "operators.txt",
            "roles.txt",
            "schema.txt",
            "inbox.txt",
            "handlers.txt",
            "kafka.txt");

    private final List<Mutant> mutants = new ArrayList<>();
    private String name = "";
    private String file = "";
    private final List<String> mistake = new ArrayList<>();
    private final List<String> tests = new ArrayList<>();
    private final List<Mutant.Change> changes = new ArrayList<>();
    private final List<String> before = new ArrayList<>();
    private final List<String> after = new ArrayList<>();

    private MutantFile() {}

    static List<Mutant> all() {
        return FILES.stream().flatMap(each -> parse(read(each)).stream()).toList();
    }

    static List<Mutant> parse(String text) {
        MutantFile parsed = new MutantFile();
        text.lines().filter(line -> !line.startsWith("#")).forEach(parsed::line);
        parsed.endMutant();
        return parsed.mutants;
    }

    private void line(String line) {
        if (line.startsWith("== ")) {
            endMutant();
            name = line.substring(3);
        } else if (line.startsWith("test ")) {
            tests.add(line.substring(5));
        } else if (line.startsWith("in ")) {
            endChange();
            file = line.substring(3);
        } else if (line.startsWith("- ")) {
            if (!after.isEmpty()) {
                endChange();
            }
            before.add(line.substring(2));
        } else if (line.startsWith("+")) {
            after.add(line.substring(1));
        } else if (!line.isBlank()) {
            mistake.add(line);
        }
    }

    private void endChange() {
        if (!before.isEmpty()) {
            changes.add(new Mutant.Change(file, List.copyOf(before), List.copyOf(after)));
        }
        before.clear();
        after.clear();
    }

    private void endMutant() {
        endChange();
        if (!name.isEmpty()) {
            mutants.add(new Mutant(name, String.join(" ", mistake), List.copyOf(tests), List.copyOf(changes)));
        }
        mistake.clear();
        tests.clear();
        changes.clear();
    }

    private static String read(String file) {
        try (InputStream in = MutantFile.class.getResourceAsStream("/mutants/" + file)) {
            if (in == null) {
                throw new IllegalStateException("The file of mutants " + file + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("The file of mutants " + file + " cannot be read", e);
        }
    }
}
