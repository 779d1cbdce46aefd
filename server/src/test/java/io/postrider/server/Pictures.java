// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.server.testkit.Browser;
import io.postrider.server.testkit.Scene;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Makes the pictures of the guide anew; run by nobody unless asked for: {@code -Dtest=Pictures}. They go to docs/images, all
 * pages in both themes and at a phone's width to target/pictures.
 */
class Pictures {
    private static final Path IMAGES = Path.of("..", "docs", "images");
    private static final Path ALL = Path.of("target", "pictures");
    private static final Map<String, String> PAGES = Map.of(
            "overview", "overview",
            "events", "events?limit=12",
            "history", "events?in=history&limit=12",
            "dead", "dead",
            "keys", "keys",
            "relays", "relays",
            "streams", "streams",
            "inbox", "inbox",
            "problems", "problems",
            "audit", "audit");

    @Test
    void take() throws Exception {
        Scene scene = Scene.empty().filled();
        String event = scene.column("SELECT event_id FROM outbox_event WHERE event_key = 'order-203'")
                .get(0);
        ExecutorService traffic = Executors.newSingleThreadExecutor();
        try (DashboardServer server = Dashboard.on(scene.dataSource())
                        .port(0)
                        .localRole(Role.ADMIN)
                        .start();
                Browser browser = Browser.at(server.url())) {
            AtomicInteger step = new AtomicInteger();
            traffic.execute(() -> {
                while (!traffic.isShutdown()) {
                    flow(scene, step.incrementAndGet());
                    LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
                }
            });
            browser.open("overview", "light");
            Thread.sleep(Duration.ofSeconds(100).toMillis());
            for (String theme : List.of("light", "dark")) {
                for (int width : List.of(1280, 390)) {
                    browser.size(width, 800);
                    browser.open("overview", theme);
                    for (Map.Entry<String, String> page : PAGES.entrySet()) {
                        take(browser, page.getValue(), page.getKey(), theme, width);
                    }
                    take(browser, "events/" + event, "event", theme, width);
                }
            }
            browser.size(1280, 800);
            browser.open("dead", "dark");
            browser.press(".group", "Requeue");
            browser.find("dialog summary").click();
            browser.write("dialog textarea", "limit raised, see INC-12");
            browser.picture(ALL.resolve("dialog-dark.png"));
        } finally {
            traffic.shutdownNow();
        }
    }

    private static void take(Browser browser, String page, String name, String theme, int width) throws Exception {
        browser.size(width, 800);
        browser.go(page);
        browser.find("main");
        Thread.sleep(1200);
        browser.picture(ALL.resolve(name + "-" + theme + "-" + width + ".png"));
        if (width == 1280
                && List.of("overview-light", "dead-dark", "event-light").contains(name + "-" + theme)) {
            browser.picture(IMAGES.resolve(name + "-" + theme + ".png"));
        }
    }

    private static void flow(Scene scene, int step) {
        long rate = Math.round(900 + 260 * Math.sin(step / 14.0) + 70 * Math.sin(step / 3.0));
        long backlog = Math.max(0, Math.round(40 + 38 * Math.sin(step / 20.0)));
        scene.execute("UPDATE outbox_relay SET published = published + " + rate / 4 + ", in_flight = " + (4 + step % 9)
                + ", lease_until = clock_timestamp() + interval '8 s', ttl_ms = 8000;"
                + " INSERT INTO outbox_history SELECT id, gen_random_uuid(), stream, event_key, event_type, aggregate_type,"
                + " aggregate_id, payload, payload_kept, content_type, headers, occurred_at, 0, NULL, NULL, clock_timestamp()"
                + " - (6 + " + (4 + 3 * Math.sin(step / 9.0)) + " * -ln(1 - random())) * interval '1 ms', 'PUBLISHED',"
                + " clock_timestamp(), settled_by FROM outbox_history LIMIT " + rate / 2 + ";"
                + " DELETE FROM outbox_event WHERE event_type = 'Flowing';"
                + " INSERT INTO outbox_event (stream, event_type) SELECT 'payments', 'Flowing' FROM generate_series(1, "
                + backlog
                + ")");
    }
}
