// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A small exchange with moods, and a book of its own: {@code POST /orders/<client id>?expires=<epoch ms>} places an order,
 * {@code GET /orders/<client id>} says whether it is in the book. What comes after its expiry is refused, so that whoever
 * asks later than that gets an answer that stays true. Thread-safe.
 */
final class Exchange implements AutoCloseable {
    static final int THROTTLED = 429;
    static final int EXPIRED = 408;
    private static final String PATH = "/orders/";
    /** For longer than any client of it waits. */
    private static final long SILENCE_MILLIS = 1_500;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, Boolean> book = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> placements = new ConcurrentHashMap<>();

    /** What it makes of an order, by the client id alone. */
    private enum Mood {
        ACKS,
        REJECTS,
        THROTTLES,
        FAILS,
        BOOKS_AND_FAILS,
        IS_SILENT,
        BOOKS_AND_IS_SILENT;

        static Mood of(String clientId) {
            return switch (Math.floorMod(clientId.hashCode() * 0x9E3779B1, 1 << 16) % 20) {
                case 0, 1 -> REJECTS;
                case 2, 3, 4 -> THROTTLES;
                case 5 -> FAILS;
                case 6 -> BOOKS_AND_FAILS;
                case 7 -> IS_SILENT;
                case 8 -> BOOKS_AND_IS_SILENT;
                default -> ACKS;
            };
        }
    }

    Exchange() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException("The exchange found no port", e);
        }
        server.createContext(PATH, this::answer);
        server.setExecutor(threads);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + PATH;
    }

    boolean has(String clientId) {
        return book.containsKey(clientId);
    }

    int booked() {
        return book.size();
    }

    /** How many client ids came more than once. */
    long placedTwice() {
        return placements.values().stream().filter(count -> count.get() > 1).count();
    }

    private void answer(HttpExchange http) throws IOException {
        try (http) {
            String clientId = http.getRequestURI().getPath().substring(PATH.length());
            if (http.getRequestMethod().equals("GET")) {
                reply(http, has(clientId) ? 200 : 404);
                return;
            }
            placements.computeIfAbsent(clientId, id -> new AtomicInteger()).incrementAndGet();
            long expires = Long.parseLong(http.getRequestURI().getQuery().substring("expires=".length()));
            place(http, clientId, expires);
        }
    }

    private void place(HttpExchange http, String clientId, long expires) throws IOException {
        Mood mood = Mood.of(clientId);
        boolean books = mood == Mood.ACKS || mood == Mood.BOOKS_AND_FAILS || mood == Mood.BOOKS_AND_IS_SILENT;
        if (books && !book(clientId, expires)) {
            reply(http, EXPIRED);
            return;
        }
        switch (mood) {
            case ACKS -> reply(http, 200);
            case REJECTS -> reply(http, 422);
            case THROTTLES -> {
                http.getResponseHeaders().set("Retry-After", "1");
                reply(http, THROTTLED);
            }
            case FAILS, BOOKS_AND_FAILS -> reply(http, 503);
            case IS_SILENT, BOOKS_AND_IS_SILENT -> beSilent();
        }
    }

    /** In one step with the look at the clock, as {@link #has} must not say no to what is booked later. */
    private synchronized boolean book(String clientId, long expires) {
        if (Instant.now().toEpochMilli() > expires) {
            return false;
        }
        book.put(clientId, true);
        return true;
    }

    private static void beSilent() {
        try {
            Thread.sleep(SILENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void reply(HttpExchange http, int status) throws IOException {
        byte[] body = Integer.toString(status).getBytes(StandardCharsets.UTF_8);
        http.sendResponseHeaders(status, body.length);
        http.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
