// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A short command of the operating system that has to succeed. */
final class Command {
    private Command() {}

    /** Runs it to its end in the given directory and returns what it printed; throws with that output if it failed. */
    static String run(Path directory, List<String> command) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException(
                        "Command " + command + " ended with exit code " + code + ": " + output.strip());
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException("Command " + command + " could not be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for " + command, e);
        }
    }
}
