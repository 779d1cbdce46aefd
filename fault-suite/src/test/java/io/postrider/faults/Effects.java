// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.LedgerWriters;

/** The effects of handlers in a rig's database, and the ledger that tells which there must be. */
record Effects(Rig rig) {

    static Effects in(Rig rig) {
        rig.execute("CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY, event_id uuid, made_by text);"
                + " GRANT INSERT ON effect TO postrider_relay;"
                + " GRANT INSERT (consumer, event_id), SELECT ON inbox_message TO postrider_relay");
        return new Effects(rig);
    }

    /** Ends the writers, waits until everything is handled, and checks that no event has more effects than allowed. */
    void assertSound(LedgerWriters writers, long maxDuplicates) {
        writers.stop();
        Rig.await("all events are handled", () -> rig.number("SELECT count(*) FROM outbox_event") == 0);
        long committed = rig.ledger().committed();
        long made = rig.number("SELECT count(*) FROM effect");
        assertThat(rig.number("SELECT count(DISTINCT e.event_id) FROM effect e"
                        + " JOIN ledger l ON l.event_id = e.event_id::text"))
                .as("events with an effect, none lost")
                .isEqualTo(committed);
        assertThat(rig.number("SELECT count(*) FROM effect WHERE event_id::text NOT IN (SELECT event_id FROM ledger)"))
                .as("ghosts")
                .isZero();
        assertThat(made - committed).as("effects that were made again").isLessThanOrEqualTo(maxDuplicates);
        assertThat(rig.texts("""
                        SELECT key_name || ' ' || key_seq || ' after ' || before FROM (
                            SELECT l.key_name, l.key_seq,
                                   lag(l.key_seq) OVER (PARTITION BY l.key_name ORDER BY e.n) AS before
                            FROM (SELECT event_id, min(n) AS n FROM effect GROUP BY event_id) e
                            JOIN ledger l ON l.event_id = e.event_id::text) x
                        WHERE key_seq < before""")).as("first effects of a key out of order").isEmpty();
        rig.passed(committed + " events, " + (made - committed) + " effects made again");
    }
}
