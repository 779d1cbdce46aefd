// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void itTakesArgumentsOptionsEnvironmentAndInputAndPrintsLines() {
        try (ChildJvm child = ChildJvm.of(Echo.class)
                .args("one", "two words")
                .jvmOptions("-Dcolour=blue")
                .env("POSTRIDER_SIZE", "large")
                .start()) {
            child.awaitLine("started [one, two words] blue large"::equals, LONG);
            child.send("hello");
            child.awaitLine("echo hello"::equals, LONG);
            child.send("exit");

            assertThat(child.awaitExit(LONG)).hasValue(3);
            assertThat(child.lines()).containsExactly("started [one, two words] blue large", "echo hello", "bye");
        }
    }

    @Test
    void itEndsByItsShutdownHooksWhenTerminatedAndWithoutThemWhenKilled() {
        try (ChildJvm first = ChildJvm.of(Echo.class).start();
                ChildJvm second = ChildJvm.of(Echo.class).start()) {
            first.awaitLine(line -> line.startsWith("started"), LONG);
            second.awaitLine(line -> line.startsWith("started"), LONG);

            first.terminate();
            second.kill();

            assertThat(first.awaitExit(LONG)).hasValue(143);
            assertThat(first.lines()).contains("bye");
            assertThat(second.awaitExit(LONG)).hasValue(137);
            assertThat(second.lines()).doesNotContain("bye");
        }
    }

    @Test
    void itAnswersNothingWhileItIsPaused() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.awaitLine(line -> line.startsWith("started"), LONG);
            child.pause();
            child.send("hello");

            assertThatThrownBy(() -> child.awaitLine("echo hello"::equals, Duration.ofMillis(300)))
                    .hasMessageContaining("did not print the awaited line within PT0.3S")
                    .hasMessageContaining("started");
            child.resume();
            child.awaitLine("echo hello"::equals, LONG);
        }
    }

    @Test
    void aLineThatNeverCameIsReportedWithTheLastOnesWhenTheChildHasEnded() {
        try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
            child.send("exit");

            assertThatThrownBy(() -> child.awaitLine("never"::equals, LONG))
                    .hasMessageContaining("before it ended with exit code 3")
                    .hasMessageContaining("bye");
        }
    }

    @Test
    void whenAParentIsKilledItsServersAndItsChildrenDieEvenWhenPausedAndTheirDataIsRemoved() {
        try (ChildJvm parent = ChildJvm.of(Parent.class).start()) {
            List<String> words = List.of(
                    parent.awaitLine(line -> line.startsWith("family "), LONG).split(" "));
            OsProcess paused = new OsProcess(Long.parseLong(words.get(1)));
            OsProcess postgres = new OsProcess(Long.parseLong(words.get(2)));
            Path data = Path.of(words.get(3));
            assertThat(paused.isGone()).isFalse();
            assertThat(postgres.isGone()).isFalse();
            assertThat(Files.exists(data)).isTrue();

            parent.kill();

            assertThat(paused.awaitGone(LONG)).isTrue();
            assertThat(postgres.awaitGone(LONG)).isTrue();
            Awaitility.await().atMost(LONG).until(() -> !Files.exists(data.getParent()));
        }
    }

    static final class Echo {
        public static void main(String[] args) throws IOException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
            System.out.println("started " + List.of(args) + " " + System.getProperty("colour") + " "
                    + System.getenv("POSTRIDER_SIZE"));
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); !"exit".equals(line); line = input.readLine()) {
                System.out.println("echo " + line);
            }
            System.exit(3);
        }
    }

    static final class Parent {
        public static void main(String[] args) throws Exception {
            ChildJvm child = ChildJvm.of(Echo.class).start();
            child.awaitLine(line -> line.startsWith("started"), LONG);
            child.pause();
            PostgresServer postgres = PostgresServer.start();
            try (Connection connection = postgres.dataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet result = statement.executeQuery("SHOW data_directory")) {
                result.next();
                System.out.println("family " + child.pid() + " " + postgres.pid() + " " + result.getString(1));
            }
            Thread.currentThread().join();
        }
    }
}
