// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same where steps through the indexes have become dear, so that a read looks at all rows. */
class LookingReadRaceTest extends ReadRaceTest {
    @BeforeEach
    void look() {
        owner.lookAtAll();
    }

    @Test
    void whereRowsAreTooManyToLookAtAllTheyAreFoundByStepsAfterAll() {
        database.crowd();
        long first = database.event("s", "k");
        assertThat(owner.readIds()).containsExactly(first);
        long second = database.event("s", "k");
        assertThat(owner.readIds(first)).containsExactly(second);
    }

    @Test
    void toFindThatTheyAreTooManyNotAllAreRead() throws Exception {
        String many = "INSERT INTO outbox_event (stream, event_key, event_type)"
                + " SELECT 's', 'k' || n, 'T' FROM generate_series(1, 60000) n";
        database.execute(many);
        database.execute("DELETE FROM outbox_event; ANALYZE outbox_event");
        database.execute(many);
        try (OpenTransaction counting = database.begin();
                Party reader = owner.in(counting)) {
            reader.lookAtAll();
            assertThat(reader.read(Party.query(owner.ownership.all(), Set.of(), 4, 1000, Long.MAX_VALUE))
                            .deliveries())
                    .hasSize(1000);
            assertThat(
                            counting.number(
                                    "SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'outbox_event'"))
                    .isLessThan(25_000);
        }
    }
}
