// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.server.testkit.Browser;
import io.postrider.server.testkit.Scene;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Events come from elsewhere: whatever stands in them is text, in every field of every page. */
class HostileTest {
    private static final List<String> STRINGS = List.of(
            "<img src=x onerror=\"window.hit=1\">",
            "</script><script>window.hit=1</script>",
            "\"'><svg onload=window.hit=1>",
            "javascript:window.hit=1",
            "\u202egnp.exe\u2066 \u200f\u05d0",
            "'; DROP TABLE outbox_event; --",
            "${window.hit=1}{{window.hit=1}}");
    private static final Scene scene = Scene.empty();
    private static final DashboardServer server =
            Dashboard.on(scene.dataSource()).port(0).localRole(Role.ADMIN).start();

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void nothingThatIsStoredBecomesAnElement() {
        STRINGS.forEach(HostileTest::store);
        try (Browser browser = Browser.at(server.url())) {
            browser.open("overview", "light");
            long images = browser.all("img, script, svg, iframe").size();
            for (String page : List.of(
                    "overview",
                    "events",
                    "events?in=history",
                    "dead",
                    "keys",
                    "relays",
                    "streams",
                    "inbox",
                    "problems",
                    "audit")) {
                browser.go(page);
                browser.awaitText("main", "<img src=x onerror=");
                safe(browser, page, images);
            }
            for (String id : scene.column("SELECT event_id FROM outbox_event")) {
                browser.go("events/" + id);
                browser.awaitText(".id-line", id);
                browser.find(".payload");
                safe(browser, id, images);
                browser.press(".actions", "Edit");
                browser.find("dialog textarea");
                safe(browser, id, images);
                browser.press("dialog", "Cancel");
            }
            for (String hostile : STRINGS) {
                browser.script(
                        "location.hash = '#/dead?' + new URLSearchParams({error: arguments[0], stream: arguments[0]})",
                        hostile);
                browser.find("tbody tr");
                safe(browser, "dead " + hostile, images);
                browser.press(".actions", "Requeue");
                browser.awaitText("dialog h2", "Requeue 1 dead letter?");
                browser.find("dialog summary").click();
                safe(browser, "dialog " + hostile, images);
                browser.press("dialog", "Cancel");
                browser.script("location.hash = '#/audit?' + new URLSearchParams({who: arguments[0]})", hostile);
                browser.find("tbody tr");
                safe(browser, "audit " + hostile, images);
            }
            browser.go("dead?error=%3Cimg%20src%3Dx%20onerror%3D%22window.hit%3D1%22%3E&key=nothing");
            browser.awaitText("main", "No dead letter matches");
            safe(browser, "address", images);
        }
    }

    private static void safe(Browser browser, String page, long images) {
        assertThat(browser.script("return window.hit")).as(page).isNull();
        assertThat(browser.all("img, script, svg, iframe")).as(page).hasSize((int) images);
        assertThat(browser.all("a[href^='javascript']")).as(page).isEmpty();
        assertThat(String.valueOf(browser.script("return document.body.innerText")))
                .as("what would turn the direction is shown, not obeyed: %s", page)
                .doesNotContain("\u202e", "\u2066", "\u200f");
        assertThat(browser.complaints()).as(page).isEmpty();
    }

    private static void store(String text) {
        String id = scene.dead(text, text, text, text, text);
        String literal = Scene.literal(text);
        scene.execute("UPDATE outbox_event SET aggregate_type = " + literal + ", aggregate_id = " + literal
                + ", content_type = " + literal + ", headers = jsonb_build_object(" + literal + ", " + literal
                + "), payload = convert_to(" + literal + ", 'UTF8') WHERE event_id = '" + id + "'");
        scene.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at, paused_by, pause_reason) VALUES ("
                + literal + ", " + literal + ", clock_timestamp(), " + literal + ", " + literal + ")");
        scene.execute(
                "INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until, closed, version) VALUES ("
                        + literal + ", " + literal + ", 'SHARDS', 60000, clock_timestamp() + interval '60 s', ARRAY["
                        + literal
                        + "], " + literal + ")");
        scene.execute("INSERT INTO outbox_shard (relay_group, shard, owner) SELECT " + literal
                + ", n, (SELECT max(id) FROM outbox_relay) FROM generate_series(0, 255) n");
        scene.execute("INSERT INTO outbox_audit (who, action, stream, event_id, reason) VALUES (" + literal + ", "
                + literal + ", " + literal + ", '" + id + "', " + literal + ")");
        scene.execute("UPDATE outbox_attempt SET relay = " + literal + " WHERE event_id = '" + id + "'");
        scene.execute("INSERT INTO inbox_message (consumer, event_id) VALUES (" + literal + ", gen_random_uuid())");
        scene.execute(
                "INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, aggregate_type, aggregate_id,"
                        + " payload, payload_kept, content_type, headers, occurred_at, attempt_count, last_error_code,"
                        + " last_error_message, created_at, outcome, settled_at, settled_by) SELECT id, gen_random_uuid(), stream,"
                        + " event_key, event_type, aggregate_type, aggregate_id, payload, true, content_type, headers, occurred_at, 0,"
                        + " last_error_code, last_error_message, created_at, 'PUBLISHED', clock_timestamp(), " + literal
                        + " FROM outbox_event WHERE event_id = '" + id + "'");
    }
}
