// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReplayTest {
    private static final Shell shell = Shell.migrated();

    @BeforeEach
    void fill() {
        shell.clear();
        shell.execute(
                "INSERT INTO outbox_history (id, event_id, stream, event_key, event_type, payload, payload_kept, headers,"
                        + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) SELECT n, gen_random_uuid(),"
                        + " 'orders', 'k' || n % 2, 'Placed', 'x', true, '{}', now(), 0, now(), 'PUBLISHED', now(), 'r'"
                        + " FROM generate_series(1, 10) n");
    }

    @Test
    void deliveredEventsAreCountedAndThenReplayed() {
        Result dry = shell.type("replay", "--stream", "orders", "--key", "k1", "--dry-run");
        assertThat(dry.err()).isEmpty();
        assertThat(dry.out()).isEqualTo("5 would be replayed.\n");
        assertThat(shell.audit()).isEmpty();
        Result result = shell.sign("replay", "--stream", "orders", "--key", "k1", "--rate", "2");
        assertThat(result.code()).isZero();
        assertThat(result.out()).isEqualTo("5 replayed, 0 left out since they are undelivered or gone.\n");
        assertThat(result.err().lines())
                .containsExactly(
                        "2 of 5 replayed, up to row 3", "4 of 5 replayed, up to row 7", "5 of 5 replayed, up to row 9");
        assertThat(shell.audit())
                .containsExactly(
                        "kim replay orders fixed [2 events, up to row 3]",
                        "kim replay orders fixed [2 events, up to row 7]",
                        "kim replay orders fixed [1 events, up to row 9]");
        assertThat(shell.sign("replay", "--stream", "orders", "--after", "9", "--new-ids")
                        .out())
                .isEqualTo("1 replayed, 0 left out since they are undelivered or gone.\n");
    }

    @Test
    void whatIsWrongIsSaidBeforeAnythingIsDone() {
        assertThat(shell.type("replay", "--stream", "orders").err()).contains("Give --as NAME and --reason TEXT");
        assertThat(shell.sign("replay", "--stream", "orders", "--from", "monday")
                        .err())
                .contains("--from must be a time such as 2025-03-01T10:00:00Z, not 'monday'.");
        assertThat(shell.sign("replay", "--stream", "orders", "--rate", "0").code())
                .isEqualTo(2);
        assertThat(shell.sign("replay").code()).isEqualTo(2);
        assertThat(shell.sign("replay", "--stream", "other").code()).isEqualTo(3);
        shell.execute("INSERT INTO outbox_stream (stream, relay_group, history) VALUES ('orders', 'default', 'OFF')");
        Result off = shell.sign("replay", "--stream", "orders");
        assertThat(off.code()).isEqualTo(1);
        assertThat(off.err()).contains("The history of stream orders is off").hasLineCount(1);
        assertThat(shell.column("SELECT count(*) FROM outbox_event")).containsExactly("0");
    }
}
