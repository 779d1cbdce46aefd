// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** The time of day as a process sees it, put forward or back by libfaketime, which must be installed. */
public final class WrongClock {
    private static final Path LIBRARIES = Path.of("/usr/lib");
    private static final String NAME = "faketime/libfaketimeMT.so.1";

    private WrongClock() {}

    /** Whether clocks can be put wrong on this machine. */
    public static boolean isInstalled() {
        return library().isPresent();
    }

    /** The environment of a process whose clock is off by so much, such as {@code +90s}; how long things take stays right. */
    static Map<String, String> environment(String offset) {
        Path library = library().orElseThrow(() -> new IllegalStateException("libfaketime is not on this machine"));
        return Map.of(
                "LD_PRELOAD",
                library.toString(),
                "FAKETIME",
                offset,
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1",
                // Its correction is for an error that the C library no longer has, and makes a JVM wait for nothing.
                "FAKETIME_FORCE_MONOTONIC_FIX",
                "0");
    }

    private static Optional<Path> library() {
        if (!Files.isDirectory(LIBRARIES)) {
            return Optional.empty();
        }
        // Under the name of the architecture, as Debian has it, or at once.
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(LIBRARIES, Files::isDirectory)) {
            for (Path each : directories) {
                if (Files.isReadable(each.resolve(NAME))) {
                    return Optional.of(each.resolve(NAME));
                }
            }
            return Optional.of(LIBRARIES.resolve(NAME)).filter(Files::isReadable);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
