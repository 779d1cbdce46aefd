// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The one line of each test: printed, and kept in target/faults-results.txt. */
final class ResultLines {
    private static final Path DIRECTORY = Path.of("target");
    private static final Path FILE = DIRECTORY.resolve("faults-results.txt");

    private ResultLines() {}

    static synchronized void add(String line) {
        System.out.println(line);
        try {
            if (Files.isDirectory(DIRECTORY)) {
                Files.writeString(FILE, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The result could not be kept in " + FILE, e);
        }
    }
}
