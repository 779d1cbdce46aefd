// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.testkit.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo as a user starts it, in a JVM of its own and with a temporary directory of its own. */
@Timeout(300)
class DemoTest {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static Path temporary = Path.of("");

    @BeforeAll
    static void makeTemporaryDirectory() throws IOException {
        // Not JUnit's, which only its owner may enter: as root, PostgreSQL runs as another user.
        temporary = Files.createTempDirectory("postrider-demo-test-");
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterAll
    static void removeTemporaryDirectory() throws IOException {
        try (Stream<Path> all = Files.walk(temporary)) {
            for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(path);
            }
        }
    }

    @Test
    void allThatIsCommittedArrivesOnceAndInOrder() throws IOException {
        try (ChildJvm demo = demo("--events", "500", "--rate", "500")) {
            assertThat(demo.awaitExit(LIMIT)).as("%s", demo.lines()).hasValue(0);
            assertThat(demo.lines())
                    .anySatisfy(line -> assertThat(line)
                            .endsWith(
                                    "✓ 500 committed · 500 delivered · 0 lost · 0 out of order · 0 duplicates dropped"))
                    .anySatisfy(line -> assertThat(line)
                            .matches(
                                    ".*✓ [1-9][0-9]* rolled back for want of money, none of them seen by the consumer"))
                    .anySatisfy(line -> assertThat(line).contains("✓ all balances together are 200000.00"));
        }
        await().atMost(LIMIT).ignoreExceptions().until(() -> leftovers().isEmpty());
    }

    @Test
    void nothingIsLostOrReorderedByKills() throws IOException {
        try (ChildJvm demo = demo("--chaos", "--events", "2000", "--rate", "400", "--lease", "2")) {
            assertThat(demo.awaitExit(LIMIT)).as("%s", demo.lines()).hasValue(0);
            assertThat(demo.lines())
                    .anySatisfy(line -> assertThat(line).endsWith("✗ relay-2 killed with -9"))
                    .anySatisfy(line -> assertThat(line).endsWith("✗ Kafka killed with -9"))
                    .anySatisfy(line -> assertThat(line).endsWith("✓ Kafka started again"))
                    .anySatisfy(line -> assertThat(line).endsWith("✓ relay-1 has taken over from relay-2"))
                    .anySatisfy(line -> assertThat(line).endsWith("✓ relay-2 started again"))
                    .anySatisfy(line -> assertThat(line)
                            .contains("✓ 2000 committed · 2000 delivered · 0 lost · 0 out of order · "));
        }
        await().atMost(LIMIT).ignoreExceptions().until(() -> leftovers().isEmpty());
    }

    @Test
    void aSignalLeavesNothingBehind() throws IOException {
        try (ChildJvm demo = demo("--events", "100000", "--rate", "500")) {
            demo.awaitLine(line -> line.contains("· analysed "), LIMIT);
            List<ProcessHandle> processes =
                    ProcessHandle.of(demo.pid()).orElseThrow().descendants().toList();
            assertThat(processes).hasSizeGreaterThan(4);

            demo.terminate();

            assertThat(demo.awaitExit(LIMIT)).hasValue(143);
            assertThat(demo.lines()).last().asString().contains("ending PostgreSQL, Kafka and the relays");
            // A watchdog outlives the demo by a moment, and ends what the demo itself had no time for.
            await().atMost(LIMIT).until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
        }
        await().atMost(LIMIT).ignoreExceptions().until(() -> leftovers().isEmpty());
    }

    @Test
    void deadLettersAreLeftThatTheDashboardRequeuesAllAtOnce() throws Exception {
        try (ChildJvm demo = demo("--chaos", "--keep", "--events", "1000", "--rate", "400", "--lease", "2")) {
            demo.awaitLine(line -> line.contains("Still running"), LIMIT);
            String url = demo.lines().stream()
                    .filter(line -> line.contains("the dashboard is at "))
                    .map(line -> line.substring(line.indexOf("http")))
                    .findFirst()
                    .orElseThrow();
            assertThat(call(url + "api/dead-letters/groups", "")).contains("\"count\": 9");
            String all = "{\"all\": true, \"stream\": \"statements\", \"reason\": \"limit raised\", ";
            String upTo = call(url + "api/dead-letters/requeue", all + "\"dryRun\": true}")
                    .replaceAll("(?s).*\"upTo\": \"(\\d+)\".*", "$1");
            assertThat(call(url + "api/dead-letters/requeue", all + "\"upTo\": \"" + upTo + "\"}"))
                    .contains("\"changed\": 9");
            await().atMost(LIMIT)
                    .until(() -> call(url + "api/events?in=history&stream=statements", "")
                                    .split("PUBLISHED", -1)
                                    .length
                            == 10);
        }
        await().atMost(LIMIT).ignoreExceptions().until(() -> leftovers().isEmpty());
    }

    private static String call(String url, String body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .header("X-Postrider", "1");
        if (!body.isEmpty()) {
            request.POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return HttpClient.newHttpClient()
                .send(request.build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void badArgumentsAreExplained() throws IOException {
        try (ChildJvm demo = demo("--relays", "none")) {
            assertThat(demo.awaitExit(LIMIT)).hasValue(2);
            assertThat(demo.lines())
                    .startsWith("--relays needs a whole number from 1 to 8, not none.", "", "Usage: ./demo [options]");
        }
    }

    private static ChildJvm demo(String... args) {
        return ChildJvm.of(Demo.class)
                .jvmOptions("-Xmx256m", "-XX:+UseSerialGC", "-Djava.io.tmpdir=" + temporary)
                .args(args)
                .start();
    }

    /** What is left in the temporary directory besides the unpacked PostgreSQL, which is kept for the next run. */
    private static List<String> leftovers() throws IOException {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> !name.matches("postrider-postgres-[0-9]+\\.[0-9].*"))
                    .toList();
        }
    }
}
