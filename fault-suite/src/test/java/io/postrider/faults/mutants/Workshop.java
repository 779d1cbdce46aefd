// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import io.postrider.faults.OtherClasses;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes the classes of a mutant: a copy of the build's own, with those of the changed files in it compiled anew. Works in
 * the directory of this module, beside the others as they were built.
 */
final class Workshop {
    private static final Path ROOT = OtherClasses.ROOT;
    private static final Path BENCH = Path.of("target", "mutants").toAbsolutePath();
    private static final String RESOURCES = "src/main/resources/";
    private static final List<String> MODULES = List.of("core", "testkit", "kafka");
    private static final List<String> TESTED_IN = List.of("core", "core/tests", "testkit", "kafka");

    private Workshop() {}

    /** The classpath of the product as it was built, and of all its tests. */
    static String unchanged() {
        return classpath("", Path.of(""));
    }

    /** The same with the mistake in it. */
    static String make(Mutant mutant) {
        String module = module(mutant);
        Path classes = BENCH.resolve(mutant.name());
        try {
            delete(classes);
            copy(built(module, "classes"), classes);
            List<Path> sources = new ArrayList<>();
            for (String file : files(mutant)) {
                Path changed = write(mutant, file, classes);
                if (file.endsWith(".java")) {
                    sources.add(changed);
                }
            }
            if (!sources.isEmpty()) {
                OtherClasses.compile(sources, classes, classpath(module, classes));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The classes of mutant " + mutant.name() + " could not be written", e);
        }
        return classpath(module, classes);
    }

    /** The changed text of each of its files. */
    static List<String> changedFiles(Mutant mutant) {
        return files(mutant).stream().map(file -> changed(mutant, file)).toList();
    }

    private static Path write(Mutant mutant, String file, Path classes) throws IOException {
        int resource = file.indexOf(RESOURCES);
        if (resource >= 0) {
            return Files.writeString(
                    classes.resolve(file.substring(resource + RESOURCES.length())), changed(mutant, file));
        }
        Path sources = Files.createDirectories(BENCH.resolve(mutant.name() + "-source"));
        return Files.writeString(sources.resolve(file.substring(file.lastIndexOf('/') + 1)), changed(mutant, file));
    }

    private static String changed(Mutant mutant, String file) {
        String text;
        try {
            text = Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException("Mutant " + mutant.name() + " changes " + file + ", which is missing", e);
        }
        for (Mutant.Change change : mutant.changes()) {
            if (change.file().equals(file)) {
                text = change.in(text);
            }
        }
        return text;
    }

    /** All of this JVM's classpath but the modules under test, and those from where they were built. */
    private static String classpath(String changedModule, Path changed) {
        Set<Path> all = new LinkedHashSet<>();
        for (String module : MODULES) {
            all.add(module.equals(changedModule) ? changed : built(module, "classes"));
        }
        TESTED_IN.forEach(module -> all.add(built(module, "test-classes")));
        all.addAll(OtherClasses.classpathWithout(MODULES));
        return all.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static Path built(String module, String kind) {
        Path classes = ROOT.resolve(module).resolve("target").resolve(kind);
        if (!Files.isDirectory(classes)) {
            throw new IllegalStateException("Mutants need the tests of all modules, and " + classes
                    + " is missing. Build them first: mvn test-compile in " + ROOT + ", or use ./faults mutants.");
        }
        return classes;
    }

    private static Set<String> files(Mutant mutant) {
        return mutant.changes().stream().map(Mutant.Change::file).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String module(Mutant mutant) {
        List<String> modules = files(mutant).stream()
                .map(file -> file.substring(0, file.indexOf('/')))
                .distinct()
                .toList();
        if (modules.size() != 1) {
            throw new IllegalStateException(
                    "Mutant " + mutant.name() + " must change files of one module, not of " + modules);
        }
        return modules.get(0);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : all.toList()) {
                Files.createDirectories(to);
                Path target = to.resolve(from.relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(each, target);
                }
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            List<Path> deepestFirst = new ArrayList<>(all.toList());
            Collections.reverse(deepestFirst);
            for (Path each : deepestFirst) {
                Files.delete(each);
            }
        }
    }
}
