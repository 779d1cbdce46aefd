// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands that change something: they need a name and a reason, and leave both in the audit table. */
class ChangingTest {
    private static final Shell shell = Shell.migrated();

    @BeforeEach
    void clear() {
        shell.clear();
    }

    @ParameterizedTest
    @CsvSource({"requeue, requeued, PENDING f", "discard, discarded, gone", "unhold, unheld, DEAD f"})
    void oneDeadLetterIsChangedAndTheAuditTellsWhoDidIt(String command, String done, String then) {
        String event = shell.dead("orders", "k1");
        shell.dead("orders", "k2");
        Result result = shell.sign("dead", command, event);
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(result.out()).isEqualTo("1 " + done + ".\n");
        assertThat(shell.column("SELECT coalesce((SELECT status || ' ' || left(holds::text, 1) FROM outbox_event"
                        + " WHERE event_id = '" + event + "'), 'gone')"))
                .containsExactly(then);
        assertThat(shell.audit()).containsExactly("kim " + command + " orders fixed");
    }

    @ParameterizedTest
    @CsvSource({"done, settled, gone", "retry, to be tried again, PENDING f", "dead, dead, DEAD t"})
    void oneUnknownEventIsDecidedAndTheAuditTellsByWhom(String command, String done, String then) {
        String event = shell.event("orders", "k1", "status = 'UNKNOWN', holds = true, last_error_code = 'CUT'");
        String dead = shell.dead("orders", "k2");
        assertThat(shell.type("unknown", "list").out()).contains(event).doesNotContain(dead);
        assertThat(shell.type("unknown", "list", "--older-than", "3600").out()).contains("No unknown events.");
        assertThat(shell.type("dead", "list").out()).contains(dead).doesNotContain(event);
        String[] words = command.equals("dead")
                ? new String[] {"unknown", command, event, dead, "--code", "LOST", "--message", "no"}
                : new String[] {"unknown", command, event, dead};
        Result result = shell.sign(words);
        assertThat(result.err()).contains("event " + dead + " is not unknown.").hasLineCount(1);
        assertThat(result.code()).isZero();
        assertThat(result.out()).isEqualTo("1 " + done + ".\n");
        assertThat(shell.column("SELECT coalesce((SELECT status || ' ' || left(holds::text, 1) FROM outbox_event"
                        + " WHERE event_id = '" + event + "'), 'gone')"))
                .containsExactly(then);
        assertThat(shell.audit()).containsExactly("kim " + command + " orders fixed");
        assertThat(shell.sign(words).code()).isEqualTo(3);
    }

    @Test
    void allThatMatchAreShownFirstAndThenRequeued() {
        shell.dead("orders", "k1");
        shell.dead("orders", "k2");
        shell.dead("other", "k3");
        Result dry = shell.type("dead", "requeue", "--all", "--stream", "orders", "--dry-run");
        assertThat(dry.code()).isZero();
        assertThat(dry.out()).contains("2 would be requeued.");
        assertThat(shell.audit()).isEmpty();
        assertThat(shell.sign("dead", "requeue", "--all", "--stream", "orders").out())
                .isEqualTo("2 requeued.\n");
        assertThat(shell.column("SELECT stream FROM outbox_event WHERE status = 'DEAD'"))
                .containsExactly("other");
    }

    @Test
    void withoutANameAndAReasonNothingIsChanged() {
        String event = shell.dead("orders", "k1");
        for (String[] command : new String[][] {
            {"dead", "requeue", event},
            {"dead", "discard", "--all", "--as", "kim"},
            {"unknown", "done", event},
            {"dead", "edit", event, "--payload", "x", "--reason", "r"},
            {"streams", "pause", "orders", "--as", " ", "--reason", "r"}
        }) {
            Result result = shell.type(command);
            assertThat(result.code()).isEqualTo(2);
            assertThat(result.err())
                    .contains("Give --as NAME and --reason TEXT")
                    .hasLineCount(1);
        }
        assertThat(shell.column("SELECT status || revision FROM outbox_event")).containsExactly("DEAD0");
    }

    @Test
    void whichOnesMustBeSaid() {
        assertThat(shell.sign("dead", "discard").err()).contains("Name the events, or give --all");
        String event = shell.dead("orders", "k1");
        assertThat(shell.sign("dead", "discard", event, "--stream", "other").code())
                .isEqualTo(2);
        assertThat(shell.sign("dead", "discard", event, "--all").code()).isEqualTo(2);
        assertThat(shell.column("SELECT status FROM outbox_event")).containsExactly("DEAD");
    }

    @Test
    void whatIsNoDeadLetterIsNamedAndEndsWithThree() {
        String alive = shell.event("orders", "k1", "");
        Result result = shell.sign("dead", "requeue", alive);
        assertThat(result.code()).isEqualTo(3);
        assertThat(result.err()).contains("event " + alive + " is no dead letter");
        assertThat(shell.type("dead", "show", alive).code()).isEqualTo(3);
    }

    @Test
    void aPayloadIsSavedEditedAndSentAgain(@TempDir Path directory) throws IOException {
        String event = shell.dead("orders", "k1");
        Path file = directory.resolve("payload");
        shell.type("dead", "show", event, "--save", file.toString());
        assertThat(file).hasContent("{\"n\":1}");
        Files.writeString(file, "{\"n\":2}");
        String[] edit = {
            "dead",
            "edit",
            event,
            "--payload-file",
            file.toString(),
            "--header",
            "fixed-by=kim",
            "--remove-header",
            "trace"
        };
        String[] dry = Arrays.copyOf(edit, edit.length + 1);
        dry[edit.length] = "--dry-run";
        assertThat(shell.type(dry).out()).contains("would be edited");
        assertThat(shell.column("SELECT status FROM outbox_event")).containsExactly("DEAD");
        Result result = shell.sign(edit);
        assertThat(result.err()).isEmpty();
        assertThat(result.code()).isZero();
        assertThat(shell.column(
                        "SELECT concat_ws(' ', status, convert_from(payload, 'UTF8'), headers) FROM outbox_event"))
                .containsExactly("PENDING {\"n\":2} {\"fixed-by\": \"kim\"}");
        assertThat(shell.audit()).singleElement().asString().startsWith("kim edit orders fixed [payload sha256 ");
        assertThat(shell.sign("dead", "edit", event).err()).contains("Nothing is to be changed");
        assertThat(shell.sign("dead", "edit", event, "--payload", "a", "--tombstone")
                        .code())
                .isEqualTo(2);
    }

    @Test
    void aStreamIsPausedAndResumed() {
        Result unknown = shell.sign("streams", "pause", "orders");
        assertThat(unknown.code()).isEqualTo(3);
        shell.execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('orders', 'default')");
        assertThat(shell.sign("streams", "pause", "orders").out()).isEqualTo("Stream orders paused.\n");
        assertThat(shell.sign("streams", "resume", "orders").code()).isZero();
        assertThat(shell.sign("streams", "resume", "orders").err()).contains("is not paused");
        assertThat(shell.audit()).containsExactly("kim pause orders fixed", "kim resume orders fixed");
    }

    @Test
    void oldHistoryIsPruned() {
        shell.execute(
                "CREATE TABLE outbox_history_20200101 (LIKE outbox_history INCLUDING ALL); ALTER TABLE outbox_history"
                        + " ATTACH PARTITION outbox_history_20200101 FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z')");
        assertThat(shell.type("prune").code()).isEqualTo(2);
        assertThat(shell.type("prune", "--keep-days", "0").code()).isEqualTo(2);
        assertThat(shell.type("prune", "--keep-days", "7").out()).contains(" 1 dropped");
    }
}
