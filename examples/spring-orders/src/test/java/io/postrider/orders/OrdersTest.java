// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootVersion;

/** The service as {@code ./orders} starts it, in a JVM of its own: one start, one story, and nothing left. */
@Timeout(180)
class OrdersTest {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final HttpClient http = HttpClient.newHttpClient();
    private Path temporary = Path.of("");
    private String url = "";

    @BeforeEach
    void makeTemporaryDirectory() throws IOException {
        // Not JUnit's, which only its owner may enter: as root, PostgreSQL runs as another user.
        temporary = Files.createTempDirectory("postrider-orders-test-");
        Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void removeTemporaryDirectory() {
        // After a failure its servers may still be ending.
        await().atMost(LIMIT).ignoreExceptions().until(() -> remove(temporary));
    }

    @Test
    void what_is_committed_arrives_and_what_is_rolled_back_does_not() throws Exception {
        try (ChildJvm service = ChildJvm.of(LocalOrders.class)
                .jvmOptions("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                .jvmOptions("-Djava.io.tmpdir=" + temporary)
                .start()) {
            String line = service.awaitLine(each -> each.startsWith("Orders "), LIMIT);
            url = line.split(" +", -1)[1];

            ordersArriveInKafka();
            healthAndEndpointTellOfIt();

            service.send("");
            assertThat(service.awaitExit(LIMIT)).as("%s", service.lines()).hasValue(0);
            // But for the broker, which says so when it had to wait for the machine.
            assertThat(service.lines())
                    .noneMatch(each ->
                            each.matches("\\S+ +(WARN|ERROR) .*") && !each.matches("\\S+ +ERROR +o\\.a\\.k\\..*"));
        }
        await().atMost(LIMIT).ignoreExceptions().until(() -> leftovers().isEmpty());
    }

    private void ordersArriveInKafka() throws Exception {
        assertThat(post("/orders", "{\"item\": \"book\", \"quantity\": 2}"))
                .isEqualTo("201 {\"id\":1,\"item\":\"book\",\"quantity\":2,\"paid\":false}");
        assertThat(post("/orders", "{\"item\": \"lamp\", \"quantity\": 5}"))
                .startsWith("409 ")
                .contains("There are not 5 of lamp in stock.");
        assertThat(post("/orders", "{\"item\": \"lamp\", \"quantity\": 0}"))
                .startsWith("400 ")
                .contains("An order needs an item, and a quantity of 1 or more.");
        assertThat(post("/orders/1/pay", "")).startsWith("200 ").contains("\"paid\":true");
        assertThat(post("/orders/1/pay", "")).startsWith("409 ").contains("Order 1 is paid already.");
        assertThat(post("/orders/99/pay", "")).startsWith("404 ");
        // One that is placed last, so that whatever was to come before it has come.
        assertThat(post("/orders", "{\"item\": \"lamp\", \"quantity\": 3}")).startsWith("201 {\"id\":3,");
        assertThat(get("/orders"))
                .isEqualTo("200 [{\"id\":1,\"item\":\"book\",\"quantity\":2,\"paid\":true},"
                        + "{\"id\":3,\"item\":\"lamp\",\"quantity\":3,\"paid\":false}]");

        await().atMost(LIMIT).until(() -> get("/arrivals").contains("{\"orderId\":3,"));
        await().atMost(LIMIT).until(() -> get("/arrivals").contains("OrderPaid"));
        assertThat(get("/arrivals").split("\"eventId\"", -1)).hasSize(4);
        assertThat(get("/arrivals"))
                .doesNotContain("{\"orderId\":2,")
                .containsSubsequence(
                        "\"type\":\"OrderPlaced\",\"key\":\"1\"",
                        "\"value\":{\"orderId\":1,\"item\":\"book\",\"quantity\":2}",
                        "\"type\":\"OrderPaid\",\"key\":\"1\"",
                        "\"value\":{\"orderId\":1}");
    }

    private void healthAndEndpointTellOfIt() throws Exception {
        assertThat(get("/actuator/health/outbox")).startsWith("200 ").contains("\"status\":\"UP\"");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(get("/actuator/outbox"))
                        .contains("\"published\":3")
                        .contains("\"stream\":\"order-events\",\"pending\":0,\"dead\":0"));
        assertThat(get("/")).startsWith("200 ").contains("/arrivals");
    }

    @Test
    void the_build_tests_the_line_it_says() {
        assertThat(SpringBootVersion.getVersion()).startsWith(System.getProperty("spring-boot.line") + ".");
    }

    private String get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(url + path)).GET());
    }

    private String post(String path, String body) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(url + path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** The status and the body. */
    private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = http.send(request.timeout(LIMIT).build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() + " " + response.body();
    }

    /**
     * What is left in the temporary directory besides the unpacked PostgreSQL, which is kept for the next run, and the
     * directory that Tomcat leaves on Spring Boot 3.
     */
    private List<String> leftovers() throws IOException {
        try (Stream<Path> all = Files.list(temporary)) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> !name.matches("postrider-postgres-[0-9]+\\.[0-9].*|tomcat\\.0\\..*"))
                    .toList();
        }
    }

    private static boolean remove(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(path);
            }
        }
        return true;
    }
}
