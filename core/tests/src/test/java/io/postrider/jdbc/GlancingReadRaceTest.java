// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same where a read is a glance first. */
class GlancingReadRaceTest extends ReadRaceTest {
    @BeforeEach
    void glance() {
        owner.reads(Party.Form.GLANCE);
    }

    @Test
    void ofAFewEventsNoMoreShardsAreReadThanTheyHave() throws Exception {
        List<Long> ids = List.of(database.event("s", "k"), database.event("s", "l"), database.event("t", null));
        database.execute("ANALYZE outbox_shard");
        try (OpenTransaction counting = database.begin();
                Party reader = owner.in(counting)) {
            assertThat(reader.readIds()).containsExactlyElementsOf(ids);
            assertThat(
                            counting.number(
                                    "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'outbox_shard'"))
                    .isBetween(1L, 3L);
        }
    }

    @Test
    void ofABacklogMoreThanAGlanceShowsIsRead() {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, 200) n");
        assertThat(owner.readIds()).hasSize(200);
        assertThat(owner.saysPlain()).isFalse();
    }

    @Test
    void whatBelongsToOthersDoesNotCount() {
        database.execute("INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, 100) n");
        long one = database.event("s", "one");
        int shard = (int) database.number("SELECT shard FROM outbox_event WHERE id = " + one);
        database.execute("DELETE FROM outbox_event WHERE id <> " + one + " AND shard = " + shard);
        Map<Integer, Long> mine = new HashMap<>(owner.ownership.all());
        mine.keySet().retainAll(Set.of(shard));
        assertThat(Party.ids(owner.read(Party.query(mine, Set.of(), 1, 1000, Long.MAX_VALUE))
                        .deliveries()))
                .containsExactly(one);
        assertThat(owner.saysPlain()).isTrue();
    }
}
