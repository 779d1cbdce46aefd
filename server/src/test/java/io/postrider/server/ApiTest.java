// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.server.testkit.Scene;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every answer of the API, on a real PostgreSQL. */
class ApiTest {
    private static final Scene scene = Scene.empty();
    private static final DashboardServer server =
            Dashboard.on(scene.dataSource()).port(0).localRole(Role.ADMIN).start();
    private static final Caller api = Caller.of(server);

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void fill() {
        scene.clear();
        scene.filled();
    }

    @Test
    void anEventSaysWhatItWaitsForAndWhatItIs() {
        String dead = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        Caller.Told told = api.get("api/events/" + dead);
        assertThat(told.text("state")).isEqualTo("DEAD");
        assertThat(told.object("waiting").get("text")).asString().contains("waits for a person", "Later events");
        assertThat(told.text("payload")).contains("\"token\": \"[hidden]\"").contains("\"last4\": \"4242\"");
        assertThat(told.json().get("payloadRedacted")).isEqualTo(true);
        assertThat(told.object("headers").get("session-token")).isEqualTo("[hidden]");
        assertThat(told.object("headers").get("tenant")).isEqualTo("north");
        assertThat(told.list("failedAttempts")).hasSize(5);
        assertThat(told.list("audit")).isEmpty();
    }

    @Test
    void aPendingEventSaysWhatIsInItsWay() {
        assertThat(waiting("stream = 'invoices'")).contains("paused by kim: archive is being moved");
        assertThat(waiting("event_key = 'order-7' AND status = 'PENDING'"))
                .contains("An earlier event of its key failed");
        assertThat(waiting("event_key = 'order-7' AND status = 'WAITING'")).contains("failed 2 times", "Later events");
        scene.execute("INSERT INTO outbox_event (stream, event_type) VALUES ('payments', 'Free')");
        assertThat(waiting("event_type = 'Free'")).contains("waits for its turn");
        scene.execute("UPDATE outbox_relay SET closed = '{payments}'");
        assertThat(waiting("event_type = 'Free'")).contains("does not answer");
        scene.execute("DELETE FROM outbox_relay");
        assertThat(waiting("event_type = 'Free'")).contains("none is running");
        scene.execute("INSERT INTO outbox_event (stream, event_type, due_at, expires_at, dedup_key) VALUES ('payments',"
                + " 'Later', clock_timestamp() + interval '1 hour', '2200-01-01T00:00:00Z', 'nightly')");
        assertThat(waiting("event_type = 'Later'")).contains("the time that its writer gave");
        Map<?, ?> later = api.get("api/events?type=Later").first("events");
        assertThat(later.get("expiresAt")).isEqualTo("2200-01-01T00:00:00Z");
        assertThat(later.get("dedupKey")).isEqualTo("nightly");
    }

    private static String waiting(String which) {
        String id = scene.column("SELECT event_id FROM outbox_event WHERE " + which + " ORDER BY id LIMIT 1")
                .get(0);
        return String.valueOf(api.get("api/events/" + id).object("waiting").get("text"));
    }

    @Test
    void aDeliveredEventIsFoundInTheHistory() {
        String id = scene.column("SELECT event_id FROM outbox_history ORDER BY id DESC LIMIT 1")
                .get(0);
        Caller.Told told = api.get("api/events/" + id);
        assertThat(told.text("state")).isEqualTo("PUBLISHED");
        assertThat(told.text("payload")).startsWith("{\"order\":");
        assertThat(told.json().get("waiting")).isNull();
        assertThat(api.get("api/events?in=history&id=" + id).list("events")).hasSize(1);
        assertThat(api.get("api/events/" + UUID.randomUUID()).status()).isEqualTo(404);
        assertThat(api.get("api/events/nonsense").status()).isEqualTo(400);
    }

    @Test
    void eventsArePagedAndFiltered() {
        Caller.Told first = api.get("api/events?stream=invoices&limit=40");
        assertThat(first.list("events")).hasSize(40);
        Caller.Told second = api.get("api/events?stream=invoices&limit=40&after=" + first.text("next"));
        assertThat(second.list("events")).hasSize(24);
        assertThat(second.json().get("next")).isNull();
        assertThat(api.get("api/events?state=DEAD&error=UNKNOWN_TOPIC").list("events"))
                .hasSize(5);
        assertThat(api.get("api/events?aggregateId=invoice-3").list("events")).hasSize(1);
        Caller.Told history = api.get("api/events?in=history&type=PaymentCaptured&limit=200");
        assertThat(history.list("events"))
                .hasSize(200)
                .allMatch(each -> "payments".equals(((Map<?, ?>) each).get("stream")));
        assertThat(api.get("api/events?in=history&type=PaymentCaptured&limit=200&after=" + history.text("next"))
                        .list("events"))
                .hasSize(200)
                .doesNotContainAnyElementsOf(history.list("events"));
        for (String wrong :
                List.of("limit=0", "limit=201", "limit=x", "after=-1", "since=yesterday", "in=history&after=x")) {
            assertThat(api.get("api/events?" + wrong).status()).as(wrong).isEqualTo(400);
        }
    }

    @Test
    void deadLettersAreRequeuedOneByOneOrByWhatTheyHaveInCommon() {
        Map<?, ?> group = api.get("api/dead-letters/groups").first("groups");
        assertThat(group.get("error")).isEqualTo("RECORD_TOO_LARGE");
        assertThat(String.valueOf(group.get("count"))).isEqualTo("18");
        Map<String, Object> all = new LinkedHashMap<>(Map.of("all", true, "error", "RECORD_TOO_LARGE"));
        Caller.Told dry = api.post("api/dead-letters/requeue", with(all, "dryRun", true));
        assertThat(dry.text("count")).isEqualTo("18");
        assertThat(scene.column("SELECT 1 FROM outbox_audit"))
                .as("a dry run changes nothing")
                .hasSize(1);

        String later = scene.dead("order-events", "order-9", "OrderPlaced", "RECORD_TOO_LARGE", "since the dry run");
        all.put("upTo", dry.text("upTo"));
        all.put("reason", "limit raised");
        assertThat(api.post("api/dead-letters/requeue", all).text("changed")).isEqualTo("18");
        assertThat(scene.column("SELECT event_id FROM outbox_event WHERE status = 'DEAD' AND last_error_code ="
                        + " 'RECORD_TOO_LARGE'"))
                .as("what died later is not changed unseen")
                .containsExactly(later);
        assertThat(scene.column("SELECT DISTINCT who || ' ' || action || ' ' || reason FROM outbox_audit"
                        + " WHERE event_id IS NOT NULL"))
                .containsExactly("local requeue limit raised");
        Map<String, Object> one = Map.of("events", List.of(later), "reason", "this too");
        assertThat(api.post("api/dead-letters/requeue", one).text("changed")).isEqualTo("1");
        assertThat(api.post("api/dead-letters/requeue", one).text("changed")).isEqualTo("0");
        assertThat(api.get("api/events/" + later).list("audit")).hasSize(1);
    }

    @Test
    void thousandsAreChangedInStepsThatEndInTime() {
        scene.execute("INSERT INTO outbox_event (stream, event_type, status, last_error_code)"
                + " SELECT 'bulk', 'T', 'DEAD', 'X' FROM generate_series(1, 10500)");
        Map<String, Object> all = new LinkedHashMap<>(Map.of("all", true, "stream", "bulk", "reason", "r"));
        all.put(
                "upTo",
                api.post("api/dead-letters/requeue", with(all, "dryRun", true)).text("upTo"));
        Caller.Told first = api.post("api/dead-letters/requeue", all);
        assertThat(first.text("changed")).isEqualTo("10000");
        Caller.Told second =
                api.post("api/dead-letters/requeue", with(all, "after", Long.parseLong(first.text("next"))));
        assertThat(second.text("changed")).isEqualTo("500");
        assertThat(second.json().get("next")).isNull();
    }

    @Test
    void deadLettersAreUnheldAndDiscarded() {
        String one = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        Map<String, Object> body = Map.of("events", List.of(one), "reason", "gap is fine");
        assertThat(api.post("api/dead-letters/unhold", body).text("changed")).isEqualTo("1");
        assertThat(api.get("api/events/" + one).json().get("holds")).isEqualTo(false);
        assertThat(api.post("api/dead-letters/discard", body).text("changed")).isEqualTo("1");
        assertThat(api.get("api/events/" + one).text("state")).isEqualTo("DISCARDED");
        assertThat(api.get("api/audit?id=" + one).list("entries")).hasSize(2);
    }

    @Test
    void anActionNeedsAReasonAndSomethingToActOn() {
        String one = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        for (Map<String, Object> wrong : List.<Map<String, Object>>of(
                Map.of("events", List.of(one)),
                Map.of("events", List.of(one), "reason", " "),
                Map.of("events", List.of(one), "reason", "x".repeat(2001)),
                Map.of("events", List.of(), "reason", "r"),
                Map.of("events", List.of("x"), "reason", "r"),
                Map.of("events", List.of(one), "all", true, "reason", "r"),
                Map.of("all", true, "reason", "r"),
                Map.of("all", "yes", "reason", "r"),
                Map.of("reason", "r"))) {
            Caller.Told told = api.post("api/dead-letters/requeue", wrong);
            assertThat(told.status()).as("%s", wrong).isEqualTo(400);
            assertThat(told.response().headers().firstValue("content-type"))
                    .contains("application/problem+json; charset=utf-8");
        }
        assertThat(api.get("api/events/" + one).text("state")).isEqualTo("DEAD");
    }

    @Test
    void aDeadLetterIsEditedIfItIsStillAsItWasSeen() {
        String id = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        Map<String, Object> edit =
                new LinkedHashMap<>(Map.of("revision", 99, "payload", "{\"fixed\": \"é\"}", "reason", "typo"));
        assertThat(api.post("api/events/" + id + "/edit", edit).status()).isEqualTo(409);
        edit.put("revision", Long.parseLong(api.get("api/events/" + id).text("revision")));
        assertThat(api.post("api/events/" + id + "/edit", with(edit, "payload", "{\"token\": \"[hidden]\"}"))
                        .status())
                .as("what is hidden is not sent to consumers")
                .isEqualTo(400);
        assertThat(api.post("api/events/" + id + "/edit", with(edit, "headers", Map.of("", "x")))
                        .status())
                .isEqualTo(400);
        edit.put("headers", Map.of("tenant", "south", "session-token", "[hidden]"));
        Caller.Told edited = api.post("api/events/" + id + "/edit", edit);
        assertThat(edited.text("changed")).as("%s", edited.json()).isEqualTo("1");
        assertThat(scene.column("SELECT concat_ws(' ', status, convert_from(payload, 'UTF8'), headers ->> 'tenant',"
                        + " headers ->> 'session-token') FROM outbox_event WHERE event_id = '" + id + "'"))
                .containsExactly("PENDING {\"fixed\": \"é\"} south abc123");
        assertThat(api.post("api/events/" + id + "/edit", edit).status())
                .as("no longer dead")
                .isEqualTo(409);
    }

    @Test
    void streamsArePausedAndResumed() {
        Map<String, Object> body = Map.of("stream", "payments", "reason", "broker moves");
        assertThat(api.post("api/streams/pause", body).status()).isEqualTo(200);
        assertThat(api.post("api/streams/pause", body).status()).isEqualTo(409);
        Map<?, ?> payments = api.get("api/streams").list("streams").stream()
                .map(each -> (Map<?, ?>) each)
                .filter(each -> "payments".equals(each.get("name")))
                .findFirst()
                .orElseThrow();
        assertThat(payments.get("pause")).asString().contains("reason=broker moves");
        assertThat(api.post("api/streams/resume", body).status()).isEqualTo(200);
        assertThat(scene.column("SELECT action FROM outbox_audit WHERE stream = 'payments' ORDER BY id"))
                .containsExactly("pause", "resume");
    }

    @Test
    void keysRelaysConsumersProblemsAndAuditAreShown() {
        List<?> keys = api.get("api/held-keys?stream=order-events").list("keys");
        assertThat(keys).hasSize(19);
        Map<?, ?> retrying = keys.stream()
                .map(each -> (Map<?, ?>) each)
                .filter(each -> "order-7".equals(each.get("key")))
                .findFirst()
                .orElseThrow();
        assertThat(String.valueOf(retrying.get("behind"))).isEqualTo("11");
        Caller.Told relays = api.get("api/relays");
        assertThat(relays.list("relays")).hasSize(2);
        assertThat((List<?>) relays.first("groups").get("shards")).hasSize(256);
        assertThat(api.get("api/inbox").list("consumers")).hasSize(2);
        assertThat(api.get("api/problems").list("findings"))
                .anyMatch(each -> each.toString().contains("is paused by kim"));
        assertThat(api.get("api/audit?who=kim&action=pause").list("entries")).hasSize(1);
        assertThat(api.get("api/audit?who=nobody").list("entries")).isEmpty();
        assertThat(api.get("api/me").text("role")).isEqualTo("ADMIN");
    }

    @Test
    void theOverviewSaysInWordsWhatIsWrong() {
        Caller.Told told = api.get("api/overview");
        assertThat(told.text("level")).isEqualTo("WARNING");
        assertThat(told.list("items").toString())
                .contains("23 dead letters wait for a person", "invoices is paused by kim");
        assertThat(told.list("streams")).hasSize(3);
        assertThat(told.list("points")).isNotEmpty();
        assertThat(Double.parseDouble(told.text("age"))).isLessThan(5);
    }

    @Test
    void payloadsThatAreNoTextOrTooLargeAreNotSentAsText() {
        scene.execute("INSERT INTO outbox_event (stream, event_type, payload) VALUES ('bytes', 'Binary', '\\xff00'),"
                + " ('bytes', 'Large', convert_to(repeat('x', 1100000), 'UTF8')), ('bytes', 'Tombstone', NULL)");
        assertThat(kind("Binary")).isEqualTo("BINARY ff00");
        assertThat(kind("Large")).isEqualTo("TOO_LARGE null");
        assertThat(kind("Tombstone")).isEqualTo("TOMBSTONE null");
    }

    private static String kind(String type) {
        String id = scene.column("SELECT event_id FROM outbox_event WHERE event_type = '" + type + "'")
                .get(0);
        Caller.Told told = api.get("api/events/" + id);
        return told.text("payloadKind") + " " + told.text("payload");
    }

    @Test
    void bodiesAreBoundedAndMustBeJson() {
        assertThat(api.post("api/streams/pause", Map.of("stream", "x".repeat(3 << 20)))
                        .status())
                .isEqualTo(413);
        for (String body :
                List.of("", "[]", "{", "\"x\"", new String(new byte[] {(byte) 0xc3}, StandardCharsets.ISO_8859_1))) {
            assertThat(api.send(api.request("api/streams/pause")
                                    .header("Content-Type", "application/json")
                                    .header("X-Postrider", "1")
                                    .POST(HttpRequest.BodyPublishers.ofString(body)))
                            .statusCode())
                    .as(body)
                    .isEqualTo(400);
        }
    }

    private static Map<String, Object> with(Map<String, Object> map, String name, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(map);
        more.put(name, value);
        return more;
    }
}
