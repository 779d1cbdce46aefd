// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.internal.Json;
import io.postrider.ops.Backlog;
import io.postrider.ops.Checkup.Level;
import io.postrider.ops.History;
import io.postrider.ops.Relays;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The overview, once or live. */
final class OverviewApi {
    static final int MOST_WATCHERS = 64;
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    private final Sampler sampler;
    private final Semaphore places;
    private final AtomicInteger watchers = new AtomicInteger();
    private volatile boolean closed;

    /** @param places of those who watch, here and wherever else they take threads from others */
    OverviewApi(Sampler sampler, Semaphore places) {
        this.sampler = sampler;
        this.places = places;
    }

    void mount(Router router) {
        router.get("/api/overview", Role.VIEWER, call -> Response.json(overview(sampler.view(), true)));
        router.get("/api/live", Role.VIEWER, this::live);
    }

    int watchers() {
        return watchers.get();
    }

    /** Lets those who watch go. */
    void close() {
        closed = true;
    }

    private Answer live(Router.Call call) {
        Map<String, String> headers = Map.of("content-type", "text/event-stream; charset=utf-8");
        if (call.request().method().equals("HEAD")) {
            return new Response(200, headers, new byte[0]);
        }
        if (!places.tryAcquire()) {
            throw Problem.unavailable("More than " + MOST_WATCHERS + " browsers watch already. Close one.");
        }
        watchers.incrementAndGet();
        return new LiveAnswer(headers, out -> {
            try {
                watch(out);
            } finally {
                watchers.decrementAndGet();
                places.release();
            }
        });
    }

    private void watch(OutputStream out) throws IOException {
        long shown = -1;
        long wrote = System.nanoTime();
        while (!closed) {
            Sampler.View view = sampler.view();
            if (view.looks() != shown) {
                shown = view.looks();
                wrote = System.nanoTime();
                send(out, "event: overview\ndata: " + Json.of(overview(view, false)) + "\n\n");
            } else if (System.nanoTime() - wrote > KEEP_ALIVE.toNanos()) {
                wrote = System.nanoTime();
                send(out, ": still here\n\n");
            }
            try {
                Thread.sleep(Math.max(20, view.nextIn().toMillis()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static void send(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private Map<String, @Nullable Object> overview(Sampler.View view, boolean withPoints) {
        List<Condition.Item> items = Condition.of(view);
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("level", items.isEmpty() ? Level.OK : items.get(0).level());
        json.put("items", items.stream().map(OverviewApi::item).toList());
        json.put("trouble", view.trouble());
        view.sample().ifPresent(sample -> numbers(sample, json));
        if (withPoints) {
            json.put("points", sampler.points().stream().map(OverviewApi::point).toList());
        }
        return json;
    }

    private static void numbers(Sample sample, Map<String, @Nullable Object> json) {
        json.put("at", sample.at());
        json.put("age", Duration.between(sample.at(), Instant.now()));
        json.put("bound", sample.bound());
        json.put("publishedPerSecond", sample.publishedPerSecond());
        json.put("backlog", sample.backlog());
        json.put("backlogBounded", sample.isBounded());
        json.put("oldest", sample.oldest());
        json.put("dead", sample.dead());
        json.put("heldKeys", sample.heldKeys());
        json.put("latency", sample.latency().map(OverviewApi::latency));
        json.put(
                "streams",
                sample.streams().stream().map(each -> stream(each, sample)).toList());
        json.put("relays", sample.relays().stream().map(OverviewApi::relay).toList());
        json.put("point", point(new Sampler.Point(sample.at(), sample)));
    }

    private static Map<String, Object> item(Condition.Item item) {
        return Map.of("level", item.level(), "text", item.text(), "page", item.page());
    }

    /** In the order in which the charts read it. */
    private static List<@Nullable Object> point(Sampler.Point point) {
        Sample sample = point.sample();
        Optional<History.Recent> latency = sample.latency();
        List<@Nullable Object> numbers = new ArrayList<>();
        numbers.add(point.at().toEpochMilli() / 1000.0);
        numbers.add(sample.publishedPerSecond().map(rate -> Math.round(rate * 10) / 10.0));
        numbers.add(sample.backlog());
        numbers.add(sample.oldest().orElse(Duration.ZERO));
        numbers.add(latency.map(each -> millis(each.p50())));
        numbers.add(latency.map(each -> millis(each.p95())));
        numbers.add(latency.map(each -> millis(each.p99())));
        return numbers;
    }

    private static double millis(Duration duration) {
        return Math.round(duration.toNanos() / 100_000.0) / 10.0;
    }

    private static Map<String, Object> latency(History.Recent recent) {
        return Map.of(
                "count", recent.count(),
                "perSecond", recent.perSecond(),
                "p50", millis(recent.p50()),
                "p95", millis(recent.p95()),
                "p99", millis(recent.p99()));
    }

    static Map<String, @Nullable Object> stream(Backlog.Stream stream, Sample sample) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", stream.name());
        json.put("group", stream.group());
        json.put("pending", stream.pending());
        json.put("retrying", stream.retrying());
        json.put("delayed", stream.delayed());
        json.put("leased", stream.leased());
        json.put("heldKeys", stream.heldKeys());
        json.put("dead", stream.dead());
        json.put("unknown", stream.unknown());
        json.put("competing", stream.competing());
        json.put("oldest", stream.oldest());
        json.put("pause", stream.pause().map(OverviewApi::pause));
        json.put("recent", sample.latency(stream.name()).map(OverviewApi::latency));
        return json;
    }

    static Map<String, Object> pause(Backlog.Pause pause) {
        return Map.of("since", pause.since(), "by", pause.by(), "reason", pause.reason());
    }

    static Map<String, @Nullable Object> relay(Relays.Member relay) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", relay.id());
        json.put("name", relay.name());
        json.put("group", relay.group());
        json.put("wants", relay.wants());
        json.put("shards", relay.shards());
        json.put("inFlight", relay.inFlight());
        json.put("published", relay.published());
        json.put("closed", relay.closed());
        json.put("startedAt", relay.startedAt());
        json.put("alive", relay.alive());
        json.put("silentFor", relay.silentFor());
        json.put("lease", relay.lease());
        json.put("version", relay.version());
        return json;
    }
}
