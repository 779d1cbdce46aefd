// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.server.Answer;
import io.postrider.server.Authenticator;
import io.postrider.server.Dashboard;
import io.postrider.server.DashboardHandler;
import io.postrider.server.Request;
import io.postrider.server.Role;
import io.postrider.server.User;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** How long the dashboard's pages take while very much is stuck, very much was delivered, and events are published. */
final class DashboardScenario implements Scenario {
    private static final String METRIC = "p95_ms";
    private static final long MOMENT_MILLIS = 100;
    private static final int FILLED_AT_ONCE = 500_000;

    private final Options options;
    private final List<String> wanted;

    DashboardScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(List.copyOf(PAGES.keySet()));
    }

    /** By name; an answer to the first of several is made fresh each time, as for the first browser of a second. */
    private static final Map<String, String> PAGES = pages();

    private static Map<String, String> pages() {
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("overview", "/api/overview");
        pages.put("events", "/api/events");
        pages.put("events-of-stream", "/api/events?stream=stuck-3");
        pages.put("events-of-key", "/api/events?stream=stuck-3&key=key-77");
        pages.put("events-of-type", "/api/events?type=Rare");
        pages.put("events-dead", "/api/events?state=DEAD");
        pages.put("history", "/api/events?in=history");
        pages.put("history-of-key", "/api/events?in=history&key=key-77");
        pages.put("history-of-type", "/api/events?in=history&type=Rare");
        pages.put("history-of-time", "/api/events?in=history&until={middle}");
        pages.put("event", "/api/events/{pending}");
        pages.put("event-delivered", "/api/events/{delivered}");
        pages.put("event-unknown", "/api/events/00000000-0000-0000-0000-000000000000");
        pages.put("dead-groups", "/api/dead-letters/groups");
        pages.put("dead-letters", "/api/dead-letters?error=BAD");
        pages.put("held-keys", "/api/held-keys");
        pages.put("relays", "/api/relays");
        pages.put("streams", "/api/streams");
        pages.put("inbox", "/api/inbox");
        pages.put("problems", "/api/problems");
        pages.put("audit", "/api/audit");
        return pages;
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        fill(rig, options.number("events", 1_000_000), options.number("delivered", 10_000_000), progress);
        Map<String, String> known = Map.of(
                "{pending}", rig.text("SELECT event_id::text FROM outbox_event WHERE event_key = 'key-77' LIMIT 1"),
                "{delivered}", rig.text("SELECT event_id::text FROM outbox_history OFFSET 1000 LIMIT 1"),
                "{middle}",
                        rig.text("SELECT to_char((min(settled_at) + (max(settled_at) - min(settled_at)) / 2)"
                                + " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM outbox_history"));
        Results results = new Results("dashboard", METRIC, wanted, List.of());
        try (Traffic traffic = Traffic.start(rig, options.number("rate", 2_000))) {
            List<Variant> variants = new ArrayList<>();
            for (String name : wanted) {
                String path = PAGES.getOrDefault(name, "");
                for (Map.Entry<String, String> each : known.entrySet()) {
                    path = path.replace(each.getKey(), each.getValue());
                }
                variants.add(new Page(rig, traffic, name, path));
            }
            return new Rounds(options.rounds(), 2, options.number("requests", 20)).run(variants, results, progress);
        }
    }

    /** Ten streams of which nothing goes, a hundred dead letters, and a day's history. */
    private static void fill(Rig rig, int events, int delivered, Consumer<String> progress) {
        rig.sql(
                "TRUNCATE outbox_event, outbox_history, inbox_message",
                "INSERT INTO outbox_stream (stream, relay_group, paused_at, paused_by, pause_reason)"
                        + " SELECT 'stuck-' || n, 'default', now(), 'bench', 'stuck' FROM generate_series(0, 9) n"
                        + " ON CONFLICT DO NOTHING");
        for (int done = 0; done < events; done += FILLED_AT_ONCE) {
            progress.accept("fill, " + done + " of " + events + " events");
            rig.sql(
                    "INSERT INTO outbox_event (stream, event_key, event_type, payload) SELECT 'stuck-' || n % 10, 'key-' || n % 1000,"
                            + " 'OrderPlaced', decode(repeat('ab', 512), 'hex') FROM generate_series(1, "
                            + Math.min(FILLED_AT_ONCE, events - done) + ") n");
        }
        rig.sql(
                "INSERT INTO outbox_event (stream, event_key, event_type, payload, status, holds, last_error_code, last_error_message)"
                        + " SELECT 'stuck-' || n % 10, 'dead-' || n, 'OrderPlaced', 'x', 'DEAD', true, 'BAD', 'no' FROM generate_series(1, 100) n");
        for (int done = 0; done < delivered; done += FILLED_AT_ONCE) {
            progress.accept("fill, " + done + " of " + delivered + " delivered");
            int count = Math.min(FILLED_AT_ONCE, delivered - done);
            rig.sql(
                    "INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, payload, payload_kept, headers,"
                            + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) SELECT n, gen_random_uuid(),"
                            + " 'stuck-' || n % 10, 'key-' || n % 1000, 'OrderPlaced', decode(repeat('ab', 128), 'hex'), true, '{}',"
                            + " clock_timestamp(), 0, clock_timestamp(), 'PUBLISHED', date_trunc('day', clock_timestamp(), 'UTC') + "
                            + "(" + done + " + n) * (interval '1 day' / " + (delivered + 1)
                            + "), 'bench' FROM generate_series(1, " + count + ") n");
        }
        rig.sql(
                "INSERT INTO inbox_message (consumer, event_id) SELECT 'billing', gen_random_uuid() FROM generate_series(1, 200000)");
        progress.accept("vacuum");
        rig.sql("VACUUM ANALYZE outbox_event", "ANALYZE outbox_history", "CHECKPOINT");
    }

    /** One page, asked for again and again, by one who looks at each answer for a moment. */
    private record Page(Rig rig, Traffic traffic, String name, String path) implements Variant {

        @Override
        public Map<String, Double> round(int requests) throws InterruptedException {
            Cpu.Reading before = rig.cpu().read();
            long appended = traffic.appended();
            long published = traffic.published();
            double[] millis = new double[requests];
            for (int i = 0; i < requests; i++) {
                // Each time another handler: none answers with what it saw for another.
                try (DashboardHandler handler = Dashboard.on(rig.dataSource())
                        .authenticator(new Everybody())
                        .handler()) {
                    long start = System.nanoTime();
                    Answer answer = handler.handle(request());
                    millis[i] = (System.nanoTime() - start) / 1e6;
                    if (answer.status() != 200 && !name.equals("event-unknown")) {
                        throw new IllegalStateException(path + " was answered with " + answer.status());
                    }
                }
                Thread.sleep(MOMENT_MILLIS);
            }
            Cpu.Reading after = rig.cpu().read();
            double seconds = (after.nanos() - before.nanos()) / 1e9;
            Arrays.sort(millis);
            Map<String, Double> measured = new LinkedHashMap<>();
            measured.put(METRIC, millis[(int) Math.ceil(requests * 0.95) - 1]);
            measured.put("p50_ms", millis[requests / 2]);
            measured.put("appended_per_s", (traffic.appended() - appended) / seconds);
            measured.put("published_per_s", (traffic.published() - published) / seconds);
            measured.put(Results.OTHER_LOAD, Cpu.cores(before, after).getOrDefault(Results.OTHER_LOAD, Double.NaN));
            return measured;
        }

        private Request request() {
            int mark = path.indexOf('?');
            Map<String, String> query = new LinkedHashMap<>();
            if (mark > 0) {
                for (String pair : path.substring(mark + 1).split("&", -1)) {
                    int equals = pair.indexOf('=');
                    query.put(pair.substring(0, equals), pair.substring(equals + 1));
                }
            }
            return new Request("GET", mark > 0 ? path.substring(0, mark) : path, query, Map.of(), new byte[0]);
        }
    }

    /** Lets everybody look. */
    private static final class Everybody implements Authenticator {
        @Override
        public Optional<User> authenticate(Request request) {
            return Optional.of(new User("bench", Role.OPERATOR));
        }

        @Override
        public String scheme() {
            return "none";
        }
    }
}
