// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AppendRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());

    @Test
    void aRepeatedAppendWaitsForTheFirstAndInsertsNothingIfThatCommits() throws Exception {
        assertThat(appendTwice(true)).isEqualTo(1);
    }

    @Test
    void aRepeatedAppendWaitsForTheFirstAndInsertsIfThatRollsBack() throws Exception {
        assertThat(appendTwice(false)).isEqualTo(1);
    }

    /** Of two transactions that wait for each other, the later one's events must come later. */
    @Test
    void idsRiseFromSessionToSession() throws Exception {
        List<Long> ids = new ArrayList<>();
        try (OpenTransaction one = database.begin();
                OpenTransaction two = database.begin()) {
            for (OpenTransaction session : List.of(one, two, one, two)) {
                outbox.on(session.connection()).append(event(UUID.randomUUID()));
                session.commit();
                ids.add(database.number("SELECT id FROM outbox_event ORDER BY created_at DESC LIMIT 1"));
            }
        }
        assertThat(ids).isSorted().doesNotHaveDuplicates();
    }

    /** Returns how many rows there are in the end. */
    private long appendTwice(boolean firstCommits) throws Exception {
        UUID id = UUID.randomUUID();
        try (OpenTransaction first = database.begin()) {
            outbox.on(first.connection()).append(event(id));
            Background<Void> second = Background.start(() -> {
                outbox.transact(tx -> tx.append(event(id)));
                return null;
            });
            first.awaitSomebodyBlocked();
            assertThat(second.isDone()).isFalse();
            if (firstCommits) {
                first.commit();
            } else {
                first.rollback();
            }
            second.get();
        }
        return database.number("SELECT count(*) FROM outbox_event WHERE event_id = '" + id + "'");
    }

    private static OutboxEvent event(UUID id) {
        return OutboxEvent.of("s", "T").id(id).key("k").json("1").build();
    }
}
