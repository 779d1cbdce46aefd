// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The product as it was one version of the tables ago, taken from the history of the repository and compiled. */
final class PreviousVersion {
    /** The last commit with tables of version 1; once there are releases, the tag of the last. */
    private static final String COMMIT = "7785a846f07ab85a8426b4588d81420818c3d45f";

    private static final List<String> MODULES = List.of("core", "kafka", "postgres");

    private PreviousVersion() {}

    /** Whether there is such a commit: not in an archive of the sources, nor in a shallow clone. */
    static boolean isKnown() {
        try {
            return run(OtherClasses.ROOT, List.of("git", "cat-file", "-e", COMMIT)) == 0;
        } catch (IOException e) {
            return false; // no git
        }
    }

    /** Compiles it in an empty directory; returns the classpath of this JVM with the product's classes of then. */
    static String classpath(Path directory) throws IOException {
        List<Path> sources = unpack(directory);
        Path classes = Files.createDirectory(directory.resolve("classes"));
        String rest = joined(OtherClasses.classpathWithout(MODULES));
        OtherClasses.compile(sources, classes, rest);
        List<Path> all = new ArrayList<>();
        all.add(classes);
        MODULES.forEach(module -> all.add(directory.resolve(module + "/src/main/resources")));
        return joined(all) + File.pathSeparator + rest;
    }

    /** Takes its sources out of the repository, and names those to be compiled. */
    private static List<Path> unpack(Path directory) throws IOException {
        Path archive = directory.resolve("sources.tar");
        List<String> git = new ArrayList<>(List.of("git", "archive", "--output=" + archive, COMMIT));
        MODULES.forEach(module -> git.add(module + "/src/main"));
        for (List<String> command :
                List.of(git, List.of("tar", "-C", directory.toString(), "-xf", archive.toString()))) {
            int code = run(OtherClasses.ROOT, command);
            if (code != 0) {
                throw new IllegalStateException(command + " ended with exit code " + code);
            }
        }
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    private static int run(Path where, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .directory(where.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted", e);
        }
    }

    private static String joined(List<Path> paths) {
        return paths.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}
