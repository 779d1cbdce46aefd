// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableNamesTest {

    @Test
    void withoutASchemaNamesAreUnqualified() {
        TableNames names = TableNames.ofDefaults();
        assertThat(names.event()).isEqualTo("outbox_event");
        assertThat(names.meta()).isEqualTo("outbox_meta");
        assertThat(names.historyDrop()).isEqualTo("outbox_history_drop");
    }

    @Test
    void withASchemaEveryNameIsQualified() {
        TableNames names = new TableNames("shop");
        assertThat(names.event()).isEqualTo("shop.outbox_event");
        assertThat(names.history()).isEqualTo("shop.outbox_history");
        assertThat(names.historyOverflow()).isEqualTo("shop.outbox_history_overflow");
        assertThat(names.attempt()).isEqualTo("shop.outbox_attempt");
        assertThat(names.relay()).isEqualTo("shop.outbox_relay");
        assertThat(names.shard()).isEqualTo("shop.outbox_shard");
        assertThat(names.stream()).isEqualTo("shop.outbox_stream");
        assertThat(names.audit()).isEqualTo("shop.outbox_audit");
        assertThat(names.alert()).isEqualTo("shop.outbox_alert");
        assertThat(names.duty()).isEqualTo("shop.outbox_duty");
        assertThat(names.inbox()).isEqualTo("shop.inbox_message");
        assertThat(names.meta()).isEqualTo("shop.outbox_meta");
        assertThat(names.historyPrepare()).isEqualTo("shop.outbox_history_prepare");
        assertThat(names.historyDrop()).isEqualTo("shop.outbox_history_drop");
        assertThat(names.historyOld()).isEqualTo("shop.outbox_history_old");
        assertThat(names.historyTrim()).isEqualTo("shop.outbox_history_trim");
        assertThat(names.auditPrune()).isEqualTo("shop.outbox_audit_prune");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "_", "a1_b", "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstu"})
    void plainIdentifiersUpTo48CharactersAreAllowed(String schema) {
        assertThat(new TableNames(schema).schema()).isEqualTo(schema);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " ",
                "1a",
                "Shop",
                "a-b",
                "a.b",
                "a;drop table x",
                "a\"b",
                "a'b",
                "ä",
                "a ",
                "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuv"
            })
    void anythingElseIsRefused(String schema) {
        assertThatThrownBy(() -> new TableNames(schema))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Schema name '" + schema
                        + "' is not allowed: use lower-case letters, digits and _, at most 48, not starting with a"
                        + " digit.");
    }

    @Test
    void aLineBreakIsRefusedAndNotShown() {
        assertThatThrownBy(() -> new TableNames("a\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Schema name 'a?' is not allowed: use lower-case letters, digits and _, at most 48, not"
                        + " starting with a digit.");
    }
}
