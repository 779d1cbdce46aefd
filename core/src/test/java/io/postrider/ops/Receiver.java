// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A real HTTP server that keeps what is posted to it. */
final class Receiver implements AutoCloseable {
    record Posted(String path, Headers headers, String body) {}

    final List<Posted> posted = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private volatile int answer = 200;

    Receiver(HttpServer server) {
        this.server = server;
        server.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            posted.add(new Posted(exchange.getRequestURI().toString(), exchange.getRequestHeaders(), body));
            exchange.getResponseHeaders().set("Location", "/elsewhere");
            exchange.sendResponseHeaders(answer, -1);
            exchange.close();
        });
        server.start();
    }

    static Receiver start() throws IOException {
        return new Receiver(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
    }

    void answer(int status) {
        this.answer = status;
    }

    int port() {
        return server.getAddress().getPort();
    }

    Endpoint endpoint(String path) {
        return Endpoint.of("http://127.0.0.1:" + port() + path).allowHttp().allowPrivateAddresses();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
