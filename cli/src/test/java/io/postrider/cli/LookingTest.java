// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that show what is there, and change nothing. */
class LookingTest {
    private static final Shell shell = Shell.migrated();

    @BeforeEach
    void clear() {
        shell.clear();
    }

    @Test
    void statusTellsWhatIsStuckInWhichStream() {
        shell.event("orders", "k1", "");
        shell.event("orders", "k2", "");
        shell.dead("orders", "k3");
        shell.execute("INSERT INTO outbox_stream (stream, relay_group, paused_at, paused_by, pause_reason)"
                + " VALUES ('orders', 'default', now(), 'sam', 'broker moves')");
        Result result = shell.type("status");
        assertThat(result.code()).isZero();
        assertThat(result.lines().get(1)).matches("orders +default +2 +0 +0 +0 +1 +1 +0 +\\d+s +yes");
        assertThat(result.out()).contains("No relay is running").contains("by sam: broker moves");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void statusCountsNoFurtherThanItIsTold() {
        shell.event("orders", "k1", "");
        shell.event("orders", "k2", "");
        shell.event("orders", "k3", "");
        assertThat(shell.type("status", "--count-to", "2").lines().get(1)).matches("orders +- +2\\+ .*");
        assertThat(shell.type("status", "--count-to", "0").code()).isEqualTo(2);
    }

    @Test
    void statusForScriptsIsJson() {
        shell.event("or\"ders", "k1", "created_at = clock_timestamp() - interval '1 hour'");
        Result result = shell.type("status", "--json");
        assertThat(result.lines()).hasSize(3);
        assertThat(result.out())
                .contains("{\"stream\": \"or\\\"ders\", \"group\": null, \"pending\": 1, \"retrying\": 0")
                .contains("\"oldest\": 36")
                .contains("\"paused\": false");
    }

    @Test
    void statusIsShownAgainAsOftenAsAsked() {
        Result result = shell.type("status", "--watch", "--every", "0.01", "--times", "3");
        assertThat(result.out()).containsSubsequence("STREAM", "STREAM", "STREAM");
        assertThat(result.code()).isZero();
    }

    @Test
    void relaysShowWhoIsSilent() {
        shell.execute(
                "INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until, in_flight, published, closed,"
                        + " version)"
                        + " VALUES ('a', 'default', 'SHARDS', 8000, clock_timestamp() + interval '8 s', 3, 12345, '{orders}', '1.4.0'),"
                        + " ('b', 'default', 'SHARDS', 8000, clock_timestamp() - interval '60 s', 0, 0, '{}', NULL)");
        Result result = shell.type("relays");
        assertThat(result.lines().get(1)).matches("a +default +SHARDS +0 +3 +12,345 +yes +\\ds +1\\.4\\.0 +orders");
        assertThat(result.lines().get(2)).matches("b +default +SHARDS +0 +0 +0 +NO +1m (8|9|1\\d)s +- +-");
        assertThat(shell.type("relays", "--json").out()).contains("\"alive\": false", "\"closed\": [\"orders\"]");
    }

    @Test
    void keysShowWhatHoldsThemAndHowManyWait() {
        String holder = shell.dead("orders", "k1");
        shell.event("orders", "k1", "");
        shell.event("orders", "k1", "");
        Result result = shell.type("keys", "--stream", "orders");
        assertThat(result.lines().get(1)).matches("orders +k1 +" + holder + " +DEAD +2 +BAD");
        assertThat(shell.type("keys", "--key", "other").out()).contains("No key is held.");
    }

    @Test
    void deadLettersAreListedPageByPage() {
        String first = shell.dead("orders", "k1");
        String second = shell.dead("orders", "k2");
        Result page = shell.type("dead", "list", "--limit", "1");
        assertThat(page.out()).contains(first).doesNotContain(second).contains("There may be more: --after ");
        String row = page.out().replaceAll("(?s).*--after (\\d+).*", "$1");
        assertThat(shell.type("dead", "list", "--after", row).out())
                .contains(second)
                .doesNotContain(first);
        assertThat(shell.type("dead", "list", "--error", "OTHER").out()).contains("No dead letters.");
        assertThat(shell.type("dead", "list", "--limit", "0").code()).isEqualTo(2);
    }

    @Test
    void aDeadLetterIsShownWithAllThatIsKnown() {
        String event = shell.dead("orders", "k1");
        shell.execute("INSERT INTO outbox_attempt (event_row, event_id, attempted_at, relay, error_code, error_message)"
                + " VALUES (1, '" + event + "', now(), 'relay-1', 'BUSY', 'try later')");
        shell.execute("UPDATE outbox_event SET expires_at = '2026-03-01T10:00:00Z', dedup_key = 'nightly'");
        Result result = shell.type("dead", "show", event);
        assertThat(result.out())
                .containsPattern("expires +2026-03-01 10:00:00Z")
                .containsPattern("dedup key +nightly")
                .contains("trace = t1", "{\"n\":1}", "BAD: no", "7 bytes")
                .containsPattern("relay-1 +BUSY +try later");
        assertThat(shell.type("dead", "show", event, "--json").out())
                .contains(
                        "\"headers\": {\"trace\": \"t1\"}",
                        "\"payload\": \"{\\\"n\\\":1}\"",
                        "\"payloadBase64\": \"eyJ",
                        "\"expiresAt\": \"2026-03-01T10:00:00Z\"",
                        "\"dedupKey\": \"nightly\"");
        assertThat(shell.type("events", "--id", event, "--json").out())
                .contains("\"expiresAt\": \"2026-03-01T10:00:00Z\"", "\"dedupKey\": \"nightly\"");
    }

    @Test
    void eventsAreFoundByStreamKeyAndId() {
        String mine = shell.event("orders", "k1", "");
        String other = shell.event("orders", "k2", "");
        assertThat(shell.type("events", "--stream", "orders", "--key", "k1").out())
                .contains(mine)
                .doesNotContain(other);
        assertThat(shell.type("events", "--id", other).lines().get(1))
                .matches(other + " +orders +k2 +Placed +PENDING.*");
        Result gone = shell.type("events", "--id", UUID.randomUUID().toString());
        assertThat(gone.code()).isEqualTo(3);
        assertThat(gone.err()).contains("it was delivered or discarded, or never committed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\\033[2J", "\\u202e", "\\u2028", "\\u009b"})
    void whatATerminalWouldObeyIsEscapedAndEveryLineFits(String evil) {
        String sql = "U&'" + evil.replace("\\033", "\\001b").replace("\\u", "\\") + "x'";
        shell.dead("orders", "k1");
        shell.execute("UPDATE outbox_event SET event_key = " + sql + ", event_type = " + sql
                + " || repeat('t', 200), last_error_code = " + sql + ", headers = jsonb_build_object('h', " + sql + "),"
                + " payload = convert_to(" + sql + ", 'UTF8')");
        String event = shell.column("SELECT event_id FROM outbox_event").get(0);
        for (String[] command : new String[][] {
            {"dead", "list"},
            {"keys"},
            {"events"},
            {"status"},
            {"dead", "show", event},
            {"dead", "show", event, "--json"}
        }) {
            Result result = shell.type(command);
            assertThat(result.code()).isZero();
            assertThat(result.out().replace("\n", "").chars().noneMatch(Character::isISOControl))
                    .as(String.join(" ", command))
                    .isTrue();
            if (!command[command.length - 1].equals("--json")) {
                assertThat(result.out()).doesNotContain("\u202e", "\u2028");
            }
            if (!command[command.length - 1].equals("--json")
                    && !String.join(" ", command).startsWith("dead show")) {
                assertThat(result.lines()).allMatch(line -> line.length() <= 100);
            }
        }
    }

    @Test
    void theTailShowsWhatIsDeliveredWhileItLooks() {
        String event = UUID.randomUUID().toString();
        shell.execute(
                "INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, payload_kept, headers,"
                        + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) VALUES (1, '"
                        + event
                        + "', 'orders', 'k1', 'Placed', false, '{}', now(), 0, now() - interval '3 s', 'PUBLISHED', now(), 'shop-1')");
        Result result = shell.type("tail", "--every", "0.01", "--times", "2");
        assertThat(result.lines()).hasSize(1);
        assertThat(result.out()).containsPattern("PUBLISHED +3s +" + event + " +orders +k1 +Placed +shop-1");
        assertThat(shell.type("tail", "--times", "1", "--json", "--stream", "orders")
                        .out())
                .startsWith("{\"settledAt\": \"")
                .contains("\"event\": \"" + event);
        assertThat(shell.type("tail", "--times", "1", "--stream", "other").out())
                .isEmpty();
    }

    @Test
    void theDoctorEndsWithThreeWhereThereIsAProblem() {
        shell.event("orders", "k1", "");
        Result sick = shell.type("doctor");
        assertThat(sick.code()).isEqualTo(3);
        assertThat(sick.out())
                .containsPattern("PROBLEM +relays +No relay is running")
                .contains("OK       schema");
        shell.execute(
                "DELETE FROM outbox_event; INSERT INTO outbox_relay (name, relay_group, wants, ttl_ms, lease_until)"
                        + " VALUES ('a', 'default', 'SHARDS', 8000, clock_timestamp() + interval '60 s')");
        assertThat(shell.type("doctor").code()).isZero();
        assertThat(shell.type("doctor", "--json").out()).contains("\"level\": \"OK\"");
    }
}
