// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.internal.JsonReader;
import io.postrider.server.testkit.Scene;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The overview as it changes, to many browsers, at the cost of one. */
class LiveTest {
    private final Scene scene = Scene.empty().filled();

    @Test
    void theNumbersChangeAsTheDatabaseDoes() throws Exception {
        try (DashboardServer server = Dashboard.on(scene.dataSource()).port(0).start();
                Stream live = Stream.of(server)) {
            assertThat(live.next().get("dead")).hasToString("23");
            scene.execute("DELETE FROM outbox_event WHERE status = 'DEAD'");
            scene.execute("UPDATE outbox_relay SET published = published + 5000");
            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                Map<?, ?> told = live.next();
                assertThat(told.get("dead")).hasToString("0");
                assertThat(told.get("point")).isNotNull();
            });
        }
    }

    @Test
    void howeverManyWatchTheDatabaseIsAskedOnceASecondAndNotAtAllWhenNobodyDoes() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        DataSource counted = new CountedSource(scene.dataSource(), connections);
        try (DashboardServer server = Dashboard.on(counted).port(0).start()) {
            List<Stream> watchers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                watchers.add(Stream.of(server));
            }
            watchers.get(0).next();
            int before = connections.get();
            long start = System.nanoTime();
            long looks = 0;
            while (looks < 4) {
                watchers.get(0).next();
                looks++;
            }
            int asked = connections.get() - before;
            double seconds = (System.nanoTime() - start) / 1e9;
            assertThat(asked)
                    .as("statements in %.1f s, of which one look has 4", seconds)
                    .isLessThanOrEqualTo((int) (4 * (seconds + 2)));
            for (Stream watcher : watchers) {
                assertThat(watcher.next()).isNotNull();
                watcher.close();
            }
            await("all have left")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> ((DashboardHandler) server.handler()).watchers() == 0);
            // A look that was under way may still ask.
            AtomicInteger last = new AtomicInteger(connections.get());
            await("nobody looks")
                    .during(Duration.ofMillis(2500))
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> {
                        int now = connections.get();
                        return last.getAndSet(now) == now;
                    });
        }
    }

    @Test
    void aDatabaseThatComesBackIsSeenAgain() throws Exception {
        CountedSource source = new CountedSource(scene.dataSource(), new AtomicInteger());
        try (DashboardServer server = Dashboard.on(source).port(0).start();
                Stream live = Stream.of(server)) {
            assertThat(live.next().get("trouble")).isEqualTo("");
            source.down = new SQLException("switched off");
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> "PROBLEM".equals(live.next().get("level")));
            source.down = null;
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> "".equals(live.next().get("trouble")));
        }
    }

    @Test
    void whoAsksForHeadersAloneWatchesNothing() throws Exception {
        try (DashboardServer server = Dashboard.on(scene.dataSource()).port(0).start()) {
            HttpResponse<Void> told = HttpClient.newHttpClient()
                    .send(
                            Caller.of(server)
                                    .request("api/live")
                                    .method("HEAD", HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            HttpResponse.BodyHandlers.discarding());
            assertThat(told.statusCode()).isEqualTo(200);
            assertThat(told.headers().firstValue("content-type")).contains("text/event-stream; charset=utf-8");
            assertThat(((DashboardHandler) server.handler()).watchers()).isZero();
        }
    }

    /** One browser that watches. */
    private record Stream(InputStream in, BufferedReader lines) implements AutoCloseable {
        static Stream of(DashboardServer server) throws IOException, InterruptedException {
            HttpResponse<InputStream> response = HttpClient.newHttpClient()
                    .send(
                            Caller.of(server).request("api/live").GET().build(),
                            HttpResponse.BodyHandlers.ofInputStream());
            assertThat(response.headers().firstValue("content-type")).contains("text/event-stream; charset=utf-8");
            return new Stream(
                    response.body(),
                    new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8)));
        }

        Map<?, ?> next() throws IOException {
            while (true) {
                String line = lines.readLine();
                assertThat(line).as("the stream goes on").isNotNull();
                if (line.startsWith("data: ")) {
                    return (Map<?, ?>) Objects.requireNonNull(JsonReader.read(line.substring(6)));
                }
            }
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
