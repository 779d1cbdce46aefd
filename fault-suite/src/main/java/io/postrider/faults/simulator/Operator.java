// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.faults.simulator.Tables.Status;
import io.postrider.faults.simulator.Tables.StreamRow;
import java.util.List;

/** Requeues and discards dead events, and pauses and resumes streams. */
final class Operator {
    private final World world;
    private final Database database;
    private final Ledger ledger;

    Operator(World world, Database database, Ledger ledger) {
        this.world = world;
        this.database = database;
        this.ledger = ledger;
    }

    private List<EventRow> dead() {
        return database.tables().events().values().stream()
                .filter(row -> row.status() == Status.DEAD)
                .toList();
    }

    void treatSomeDead() {
        List<EventRow> dead = dead();
        if (!dead.isEmpty()) {
            EventRow row = world.dice.pick(dead);
            act(row, world.dice.chance(0.7));
        }
    }

    void requeueAllDead() {
        dead().forEach(row -> act(row, true));
    }

    private void act(EventRow seen, boolean requeues) {
        String name = requeues ? "requeue" : "discard";
        database.submit("operator", name, requeues ? new Requeue(seen) : new Discard(seen), done -> {});
    }

    void pause(String stream, boolean paused) {
        StreamRow row = database.tables().streams().get(stream);
        if (row != null && row.paused() != paused) {
            world.note("operator", paused ? "pauses" : "resumes", stream);
            world.count(Sometimes.STREAM_PAUSED);
            database.commit(tables -> tables.put(new StreamRow(stream, row.onDead(), row.keepsHistory(), paused)));
        }
    }

    /** What both do: on a row that is dead and as it was seen. */
    private abstract static class OnDeadRow extends Statement<Boolean> {
        final EventRow seen;
        private boolean matches;

        OnDeadRow(EventRow seen) {
            this.seen = seen;
        }

        @Override
        protected void look(Tables snapshot, long now) {
            matches = isAsSeen(snapshot);
        }

        @Override
        protected List<Lock> locks() {
            return matches ? List.of(new Lock("event", seen.id(), false)) : List.of();
        }

        @Override
        protected void recheck(Tables latest, long now) {
            matches &= isAsSeen(latest);
        }

        @Override
        protected Boolean write(Tables tables, long now) {
            if (matches) {
                change(tables);
            }
            return matches;
        }

        abstract void change(Tables tables);

        private boolean isAsSeen(Tables tables) {
            EventRow row = tables.events().get(seen.id());
            return row != null && row.revision() == seen.revision() && row.status() == Status.DEAD;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName() + " " + seen.id();
        }
    }

    /** OperatorSql.REQUEUE. */
    private final class Requeue extends OnDeadRow {
        Requeue(EventRow seen) {
            super(seen);
        }

        @Override
        void change(Tables tables) {
            world.count(Sometimes.EVENT_REQUEUED);
            tables.put(new EventRow(
                    seen.id(), seen.event(), seen.shard(), Status.PENDING, false, seen.revision() + 1, 0, 0, 0));
            tables.deaths(seen.id(), 0);
            ledger.requeued(seen, tables);
        }
    }

    /** OperatorSql.DISCARD. */
    private final class Discard extends OnDeadRow {
        Discard(EventRow seen) {
            super(seen);
        }

        @Override
        void change(Tables tables) {
            ledger.discarded(seen);
            tables.remove(seen);
        }
    }
}
