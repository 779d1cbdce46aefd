// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;

/** Notes an event as processed, in one of the ways. */
record NoteEach(Rig rig, Extra note, String tables) implements EachRound.Each {

    @Override
    public void in(Connection connection, int number) throws Exception {
        note.in(connection, number);
    }

    @Override
    public long left(int events) {
        return events - rig.number("SELECT count(*) FROM " + tables);
    }
}
