// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Classes of relays as the JVM has them in memory, so that one that is started again uses half the processor time until it
 * delivers: where a relay is killed every two seconds, two cores have little else to do than to start the next. The JVM shares
 * what comes from jars alone, so directories of the classpath are put into some. Not thread-safe.
 */
final class ClassArchive implements AutoCloseable {
    private final Path directory;
    private final String classpath;

    ClassArchive() {
        try {
            directory = Files.createTempDirectory("postrider-classes-");
            List<String> entries = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                Path path = Path.of(entry);
                entries.add(Files.isDirectory(path) ? jar(path, entries.size()) : entry);
            }
            classpath = String.join(File.pathSeparator, entries);
        } catch (IOException e) {
            throw new UncheckedIOException("The classes could not be put into jars", e);
        }
    }

    String classpath() {
        return classpath;
    }

    /** The option of a relay that shows which classes there are to be archived. */
    String recording() {
        return "-XX:DumpLoadedClassList=" + directory.resolve("list");
    }

    /** Archives what was recorded so far; returns the option of relays that use it. */
    String dump() {
        Path archive = directory.resolve("archive");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:dump",
                "-XX:+UseSerialGC",
                "-XX:SharedClassListFile=" + wholeLines(directory.resolve("list")),
                "-XX:SharedArchiveFile=" + archive,
                "-cp",
                classpath);
        Path said = directory.resolve("dump.log");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
            try {
                if (!process.waitFor(1, TimeUnit.MINUTES) || process.exitValue() != 0 || !Files.exists(archive)) {
                    throw new IllegalStateException("Classes could not be archived: " + Files.readString(said));
                }
            } finally {
                process.destroyForcibly();
            }
            return "-XX:SharedArchiveFile=" + archive;
        } catch (IOException e) {
            throw new UncheckedIOException("Classes could not be archived", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while classes were archived", e);
        }
    }

    /** The relay may be writing the last one. */
    private Path wholeLines(Path list) {
        try {
            String written = Files.readString(list);
            return Files.writeString(directory.resolve("lines"), written.substring(0, written.lastIndexOf('\n') + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(list + " could not be read", e);
        }
    }

    private String jar(Path classes, int number) throws IOException {
        Path jar = directory.resolve(number + ".jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(
                        new ZipEntry(classes.relativize(file).toString().replace(File.separatorChar, '/')));
                Files.copy(file, out);
            }
        }
        return jar.toString();
    }

    /** To be called when no relay uses it any more. */
    @Override
    public void close() {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(directory + " could not be removed", e);
        }
    }
}
