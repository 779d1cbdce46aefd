// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every scenario runs and says what it should; how fast is not tested. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class BenchTest {
    private static final Pattern FIELD =
            Pattern.compile("\"([a-z0-9_]+)\": (\"[a-z0-9-]+\"|[0-9]+(\\.[0-9]+)?(E-[0-9]+)?)");
    private static Rig rig;

    @BeforeAll
    static void start() {
        rig = Rig.start();
    }

    @AfterAll
    static void end() {
        rig.close();
    }

    @Test
    void drainComparesOursWithRowClaimsAndTheFloor() throws Exception {
        List<Map<String, String>> rows = run("drain", "--events", "300", "--rounds", "1", "--json");
        assertThat(rows)
                .extracting(row -> row.get("variant"))
                .containsExactly("history-on", "history-no-payload", "history-off", "row-claim", "floor");
        assertThat(rows)
                .allSatisfy(row -> assertThat(row)
                        .containsEntry("scenario", "drain")
                        .containsKeys("events_per_s", "min", "max", "wal_bytes_per_event"));
        assertThat(rows.get(0)).containsKeys("ratio_to_row_claim", "ratio_to_floor");
    }

    @Test
    void drainComparesOneRelayWithSeveralAndWithALargerBacklogInLessMemory() throws Exception {
        List<Map<String, String>> rows = run(
                "drain",
                "--events",
                "200",
                "--backlog",
                "500",
                "--heap",
                "64m",
                "--relays",
                "2",
                "--rounds",
                "1",
                "--json");
        assertThat(rows)
                .extracting(row -> row.get("variant"))
                .containsExactly("one-relay", "backlog-500-heap-64m", "relays-2");
        assertThat(rows.get(2)).containsKeys("events_per_s", "ratio_to_one_relay");
    }

    @Test
    void latencyComparesOursWithSendingAfterTheCommit() throws Exception {
        List<Map<String, String>> rows = run("latency", "--events", "100", "--rate", "500", "--rounds", "1", "--json");
        assertThat(rows)
                .extracting(row -> row.get("variant"))
                .containsExactly("bare", "publish-on-commit", "leased", "wake-up", "notify", "poll");
        assertThat(rows).allSatisfy(row -> assertThat(row).containsKeys("p50_ms", "p99_ms", "min", "max"));
        assertThat(rows.get(1)).containsKey("ratio_to_bare");
    }

    @Test
    void appendComparesOursWithAPlainInsert() throws Exception {
        List<Map<String, String>> rows =
                run("append", "--seconds", "1", "--warm-up", "1", "--threads", "2", "--rounds", "1", "--json");
        assertThat(rows)
                .extracting(row -> row.get("variant"))
                .containsExactly("base", "plain-insert", "append", "relayed", "publish-on-commit", "leased");
        assertThat(rows.get(2)).containsKeys("tx_per_s", "min", "max", "ratio_to_plain_insert");
        assertThat(rows.get(4)).containsKeys("delivered", "ratio_to_relayed");
    }

    @Test
    void inboxComparesOursWithAPlainInsert() throws Exception {
        List<Map<String, String>> rows = run("inbox", "--seconds", "1", "--threads", "2", "--rounds", "1", "--json");
        assertThat(rows).extracting(row -> row.get("variant")).containsExactly("base", "plain-insert", "once");
        assertThat(rows.get(2))
                .containsEntry("scenario", "inbox")
                .containsKeys("tx_per_s", "min", "max", "ratio_to_plain_insert");
    }

    @Test
    void heldComparesOthersWithAndWithoutAKeyThatFails() throws Exception {
        List<Map<String, String>> rows =
                run("held", "--events", "40000", "--backlog", "500", "--rounds", "1", "--json");
        assertThat(rows).extracting(row -> row.get("variant")).containsExactly("without", "held");
        assertThat(rows.get(1)).containsEntry("scenario", "held").containsKeys("events_per_s", "ratio_to_without");
    }

    @Test
    void queueComparesOursWithRowClaims() throws Exception {
        List<Map<String, String>> rows = run("queue", "--events", "500", "--rounds", "1", "--json");
        assertThat(rows)
                .extracting(row -> row.get("variant"))
                .containsExactly(
                        "competing",
                        "ordered",
                        "same-transaction-batch",
                        "same-transaction",
                        "row-claim",
                        "delete-commit",
                        "inbox",
                        "plain-insert",
                        "not-due");
        assertThat(rows.get(0))
                .containsEntry("scenario", "queue")
                .containsEntry("against", "row-claim")
                .containsKeys("events_per_s", "min", "max", "wal_bytes_per_event", "ratio", "ratio_min", "ratio_max");
        assertThat(rows)
                .filteredOn(row -> row.containsKey("ratio"))
                .extracting(row -> row.get("variant") + " " + row.get("against"))
                .containsExactly(
                        "competing row-claim",
                        "ordered row-claim",
                        "same-transaction-batch competing",
                        "same-transaction delete-commit",
                        "inbox plain-insert",
                        "not-due competing");
    }

    @Test
    void idleCountsStatements() throws Exception {
        List<Map<String, String>> rows = run("idle", "--seconds", "1", "--rounds", "1", "--json");
        assertThat(rows).hasSize(1);
        assertThat(rows.get(0)).containsEntry("scenario", "idle").containsKeys("statements_per_s", "min", "max");
    }

    @Test
    void dueTellsHowLateEventsStart() throws Exception {
        List<Map<String, String>> rows = run("due", "--events", "20", "--rounds", "1", "--json");
        assertThat(rows).extracting(row -> row.get("variant")).containsExactly("competing", "ordered");
        assertThat(rows)
                .allSatisfy(
                        row -> assertThat(Double.parseDouble(row.get("p95_ms"))).isPositive());
    }

    @Test
    void dashboardAsksForEveryPage() throws Exception {
        List<Map<String, String>> rows = run(
                "dashboard",
                "--events",
                "3000",
                "--delivered",
                "5000",
                "--rate",
                "200",
                "--requests",
                "2",
                "--rounds",
                "1",
                "--json");
        assertThat(rows).hasSize(21);
        assertThat(rows)
                .allSatisfy(row -> assertThat(row)
                        .containsEntry("scenario", "dashboard")
                        .containsKeys("p95_ms", "published_per_s"));
    }

    @Test
    void unknownArgumentsAreNamedWithTheUsage() {
        assertThat(refusal("drain", "--speed", "9"))
                .startsWith("Unknown argument --speed for drain.")
                .contains("usage:");
        assertThat(refusal("latency", "--loops", "2")).startsWith("Unknown argument --loops for latency.");
        assertThat(refusal("fly")).startsWith("Unknown scenario fly.");
        assertThat(refusal("drain", "--events")).startsWith("--events needs a value.");
        assertThat(refusal("drain", "--events", "many")).startsWith("--events is a whole number from 1 on, not many.");
        assertThat(refusal("drain", "--variants", "best")).startsWith("Unknown variant best; there are history-on,");
        assertThat(refusal("drain", "--heap", "big")).startsWith("--heap is a size such as 256m, not big.");
        assertThat(refusal()).startsWith("Nothing to measure was named.");
    }

    private static String refusal(String... args) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = Bench.run(silent(), new PrintStream(err, true, UTF_8), args);
        assertThat(code).isEqualTo(2);
        return err.toString(UTF_8);
    }

    private static List<Map<String, String>> run(String... args) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Scenario scenario = Bench.scenario(Options.parse(args));
        // What another scenario has declared: each has a database of its own where it does not share one here.
        rig.sql("DELETE FROM outbox_stream");
        Bench.run(rig, scenario, new Output(new PrintStream(out, true, UTF_8), true), silent());
        return out.toString(UTF_8).lines().map(BenchTest::fields).toList();
    }

    private static Map<String, String> fields(String line) {
        assertThat(line).startsWith("{").endsWith("}");
        Map<String, String> fields = new HashMap<>();
        for (String part : line.substring(1, line.length() - 1).split(", ", -1)) {
            Matcher field = FIELD.matcher(part);
            assertThat(field.matches()).as(part).isTrue();
            fields.put(field.group(1), field.group(2).replace("\"", ""));
        }
        return fields;
    }

    private static PrintStream silent() {
        return new PrintStream(OutputStream.nullOutputStream(), true, UTF_8);
    }
}
