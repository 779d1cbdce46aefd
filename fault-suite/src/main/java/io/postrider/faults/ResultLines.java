// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** The one line of each test: printed, and kept in target/faults-results.txt. */
final class ResultLines {
    private static final Path DIRECTORY = Path.of("target");
    private static final Path FILE = DIRECTORY.resolve("faults-results.txt");
    private static final List<Line> ALL = new ArrayList<>();

    /** What a test has to say. */
    record Line(String test, String seed, String faults, String result, String figures) {
        @Override
        public String toString() {
            return String.join(" | ", test, "seed " + seed, faults, result, figures);
        }
    }

    private ResultLines() {}

    static synchronized void add(Line line) {
        ALL.add(line);
        System.out.println(line);
        try {
            if (Files.isDirectory(DIRECTORY)) {
                Files.writeString(FILE, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The result could not be kept in " + FILE, e);
        }
    }

    /** Those of this process, oldest first. */
    static synchronized List<Line> all() {
        return List.copyOf(ALL);
    }
}
