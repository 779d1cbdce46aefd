// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The one file that people get, run as they run it. */
class ExecutableIT {
    private static final String EXECUTABLE = System.getProperty("postrider.executable", "target/postrider");
    private static final Shell shell = Shell.migrated();

    private final Path directory;

    ExecutableIT(@TempDir Path directory) {
        this.directory = directory;
    }

    @BeforeAll
    static void fill() {
        shell.event("orders", "größe", "");
    }

    @Test
    void itRunsAsAProgram() throws Exception {
        Run run = run(EXECUTABLE, "events");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("größe");
    }

    @Test
    void itRunsAsAJar() throws Exception {
        Run run = run(java(), "-jar", EXECUTABLE, "status", "--json");
        assertThat(run.code()).isZero();
        assertThat(run.out()).contains("\"pending\": 1");
    }

    @Test
    void itSaysWhatIsWrongInOneLine() throws Exception {
        Run run = run(EXECUTABLE, "status", "--url", "jdbc:postgresql://127.0.0.1:1/none");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).startsWith("postrider: ").hasLineCount(1);
    }

    @Test
    void itHoldsAllItNeeds() throws Exception {
        Run run = run(EXECUTABLE, "drain", "--bootstrap-servers", "127.0.0.1:1", "--deadline", "1");
        assertThat(run.err()).doesNotContain("NoClassDefFound", "ClassNotFound");
        assertThat(run.code()).isEqualTo(3);
        Path file = directory.resolve("postrider.yaml");
        Files.writeString(
                file, "databases: {a: {url: 'jdbc:postgresql:a', relays: [{kafka: {bootstrap-servers: 'k:1'}}]}}");
        Run check = run(EXECUTABLE, "serve", "--check", "--config", file.toString());
        assertThat(check.err()).isEmpty();
        assertThat(check.code()).isZero();
        assertThat(run(EXECUTABLE, "--version").out()).matches("postrider \\d.*\n");
    }

    private record Run(int code, String out, String err) {}

    private Run run(String... command) throws IOException, InterruptedException {
        Path out = directory.resolve("out" + System.nanoTime());
        Path err = directory.resolve("err" + System.nanoTime());
        ProcessBuilder builder = new ProcessBuilder(List.of(command))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().put("POSTRIDER_URL", shell.database().url());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), read(out), read(err));
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8);
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
