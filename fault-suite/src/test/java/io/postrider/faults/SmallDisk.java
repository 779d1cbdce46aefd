// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * A file system of a few megabytes in memory that can be filled up. A shell of its own holds it and removes it when this
 * JVM ends, in whatever way. Not thread-safe.
 */
final class SmallDisk implements AutoCloseable {
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            mount -t tmpfs -o "size=$2m,mode=0777" tmpfs "$1" || exit 1
            echo mounted
            read -r end
            umount "$1" || umount -l "$1"
            """;
    private static final int BLOCK = 4096;

    private final Path directory;
    private final Process holder;

    private SmallDisk(Path directory, Process holder) {
        this.directory = directory;
        this.holder = holder;
    }

    /** Empty where this user may not mount anything. */
    static Optional<SmallDisk> mount(int megabytes) {
        try {
            Path directory = Files.createTempDirectory("postrider-disk-");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            Process holder = new ProcessBuilder(
                            "/bin/sh", "-c", SCRIPT, "disk", directory.toString(), Integer.toString(megabytes))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            BufferedReader says = holder.inputReader();
            if ("mounted".equals(says.readLine())) {
                return Optional.of(new SmallDisk(directory, holder));
            }
            Files.delete(directory);
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("No small disk could be mounted", e);
        }
    }

    Path directory() {
        return directory;
    }

    /** Takes all the space that is left. */
    void fill() {
        byte[] block = new byte[BLOCK];
        try (OutputStream filler = Files.newOutputStream(filler())) {
            while (true) {
                filler.write(block);
            }
        } catch (IOException e) {
            // Full.
        }
    }

    /** Gives back what {@link #fill} has taken. */
    void free() {
        try {
            Files.deleteIfExists(filler());
        } catch (IOException e) {
            throw new UncheckedIOException("The disk could not be freed", e);
        }
    }

    private Path filler() {
        return directory.resolve("filler");
    }

    @Override
    public void close() {
        try {
            holder.getOutputStream().close();
            holder.waitFor();
            Files.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("The small disk at " + directory + " could not be removed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
