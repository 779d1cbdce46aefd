// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.postrider.OutboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A dashboard that listens, on the JDK's own HTTP server. Made by {@link Dashboard#start}. Thread-safe. */
public final class DashboardServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DashboardServer.class);
    /** Some more than those who watch live take. */
    private static final int THREADS = 96;

    private static final int DRAINED = 16 << 20;
    /** The JDK's own limit for how long a request may take to arrive; without one, who sends slowly keeps a thread. */
    static final String LONGEST_REQUEST = "sun.net.httpserver.maxReqTime";

    private final HttpServer server;
    private final ExecutorService threads;
    private final RequestHandler handler;
    private final String url;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DashboardServer(HttpServer server, RequestHandler handler) {
        this.server = server;
        this.handler = handler;
        InetSocketAddress at = server.getAddress();
        String host = at.getAddress().isLoopbackAddress() || at.getAddress().isAnyLocalAddress()
                ? "localhost"
                : at.getHostString();
        url = "http://" + host + ":" + at.getPort() + "/";
        AtomicInteger count = new AtomicInteger();
        threads = new ThreadPoolExecutor(0, THREADS, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "postrider-dashboard-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    static DashboardServer start(InetAddress address, int port, IntFunction<RequestHandler> handler) {
        HttpServer server;
        // In seconds, read by the first server of the process.
        System.getProperties().putIfAbsent(LONGEST_REQUEST, "30");
        try {
            server = HttpServer.create(new InetSocketAddress(address, port), 0);
        } catch (IOException e) {
            throw new OutboxException(
                    "The dashboard cannot listen on " + address.getHostAddress() + " port " + port + ": "
                            + e.getMessage() + ". Give it another port, or 0 for a free one.",
                    e);
        }
        DashboardServer started =
                new DashboardServer(server, handler.apply(server.getAddress().getPort()));
        server.setExecutor(started.threads);
        server.createContext("/", started::serve);
        server.start();
        log.info("The dashboard is at {}", started.url);
        return started;
    }

    /** Where a browser on this machine finds it. */
    public String url() {
        return url;
    }

    RequestHandler handler() {
        return handler;
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(DashboardHandler.LONGEST_BODY + 1);
            if (body.length > DashboardHandler.LONGEST_BODY) {
                drain(exchange.getRequestBody());
            }
            Answer answer = handler.handle(request(exchange, body));
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            if (answer instanceof Response response) {
                send(exchange, response);
            } else if (answer instanceof LiveAnswer live) {
                watch(exchange, live);
            }
        }
    }

    private static void watch(HttpExchange exchange, LiveAnswer live) throws IOException {
        try {
            exchange.sendResponseHeaders(live.status(), 0);
        } catch (IOException e) {
            // Has left already: writes nothing, and gives the place back.
            OutputStream gone = OutputStream.nullOutputStream();
            gone.close();
            live.body().writeTo(gone);
            throw e;
        }
        try (OutputStream out = exchange.getResponseBody()) {
            live.body().writeTo(out);
        }
    }

    /** Who still sends would see a reset instead of the answer; a body without end is cut off. */
    private static void drain(InputStream in) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (int left = DRAINED; left > 0; left -= buffer.length) {
            if (in.readNBytes(buffer, 0, buffer.length) < buffer.length) {
                return;
            }
        }
    }

    private static void send(HttpExchange exchange, Response response) throws IOException {
        boolean bodiless = exchange.getRequestMethod().equals("HEAD") || response.body().length == 0;
        exchange.sendResponseHeaders(response.status(), bodiless ? -1 : response.body().length);
        if (!bodiless) {
            exchange.getResponseBody().write(response.body());
        }
    }

    private static Request request(HttpExchange exchange, byte[] body) {
        Map<String, String> headers = new LinkedHashMap<>();
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
        String path = exchange.getRequestURI().getRawPath();
        return Request.of(
                exchange.getRequestMethod(),
                path == null ? "/" : path,
                exchange.getRequestURI().getRawQuery(),
                headers,
                body,
                exchange.getRemoteAddress().getAddress().getHostAddress());
    }

    /** Stops listening; who watches live is let go. Does nothing the second time. */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        handler.close();
        server.stop(0);
        threads.shutdownNow();
        log.info("The dashboard has stopped");
    }
}
