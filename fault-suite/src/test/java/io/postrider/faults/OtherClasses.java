// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Classes of the product that are not those of this build: compiled here, and used in place of them. */
public final class OtherClasses {
    /** The directory of the project; tests run in that of their module. */
    public static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private OtherClasses() {}

    /** All of this JVM's classpath but what was built by these modules. */
    public static List<Path> classpathWithout(List<String> modules) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(entry -> Path.of(entry).toAbsolutePath().normalize())
                .filter(entry -> modules.stream()
                        .noneMatch(
                                module -> entry.startsWith(ROOT.resolve(module).resolve("target"))))
                .toList();
    }

    public static void compile(List<Path> sources, Path classes, String classpath) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("Classes are compiled here: run this with a JDK, not a JRE.");
        }
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(problems, null, StandardCharsets.UTF_8)) {
            List<String> options =
                    List.of("-d", classes.toString(), "-cp", classpath, "-proc:none", "-parameters", "--release", "17");
            boolean compiled = compiler.getTask(
                            null, files, problems, options, null, files.getJavaFileObjectsFromPaths(sources))
                    .call();
            if (!compiled) {
                throw new IllegalStateException("It does not compile: " + problems.getDiagnostics());
            }
        }
    }
}
