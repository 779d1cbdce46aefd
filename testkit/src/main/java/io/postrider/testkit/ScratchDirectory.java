// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** A temporary directory that everybody may enter and that is removed with all it holds on close. */
record ScratchDirectory(Path path) implements AutoCloseable {
    private static final int TRIES = 20;

    static ScratchDirectory create(String name) {
        try {
            Path path = Files.createTempDirectory(root(), "postrider-" + name + "-");
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
            return new ScratchDirectory(path);
        } catch (IOException e) {
            throw new UncheckedIOException("No temporary directory could be made in " + root(), e);
        }
    }

    /** java.io.tmpdir, or /tmp where the former is inside a directory that another user may not enter. */
    static Path root() {
        Path configured = Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        for (Path at = configured; at != null; at = at.getParent()) {
            try {
                if (!PosixFilePermissions.toString(Files.getPosixFilePermissions(at))
                        .endsWith("x")) {
                    return Path.of("/tmp");
                }
            } catch (IOException e) {
                return Path.of("/tmp");
            }
        }
        return configured;
    }

    /** Removes it; tries again for a while if a dying process still writes into it. */
    @Override
    public void close() {
        for (int i = 1; ; i++) {
            try {
                deleteTree(path);
                return;
            } catch (IOException e) {
                if (i == TRIES) {
                    throw new UncheckedIOException("Temporary directory " + path + " could not be removed", e);
                }
                Pause.millis(50);
            }
        }
    }

    static void deleteTree(Path root) throws IOException {
        if (!Files.exists(root)) {
            return;
        }
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
                Files.deleteIfExists(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
