// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import com.sun.net.httpserver.HttpServer;
import io.postrider.internal.JsonReader;
import io.postrider.ops.Alerts;
import io.postrider.ops.Endpoint;
import io.postrider.ops.WebhookChannel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A real receiver of alerts, which can be told to fail. */
final class AlertRig implements AutoCloseable {
    static final String SECRET = "0123456789abcdef";

    final List<Map<?, ?>> received = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private volatile int answer = 200;

    AlertRig() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            int status = answer;
            if (status == 200) {
                received.add((Map<?, ?>) Objects.requireNonNull(JsonReader.read(body)));
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.setExecutor(threads);
        server.start();
    }

    void answer(int status) {
        answer = status;
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
    }

    static WebhookChannel channel(String url) {
        return WebhookChannel.of(Endpoint.of(url).allowHttp().allowPrivateAddresses(), SECRET);
    }

    /** No time between two messages of the same, unless told otherwise. */
    Alerts.Builder alerts(TestDatabase database) {
        return Alerts.builder(database.dataSource()).tell(channel(url())).newsEvery(Duration.ZERO);
    }

    /** Condition, state and text of each message so far, which are then forgotten. */
    List<String> messages() {
        List<String> messages = received.stream()
                .map(each -> each.get("condition") + " " + each.get("state") + ": " + each.get("text"))
                .toList();
        received.clear();
        return messages;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
