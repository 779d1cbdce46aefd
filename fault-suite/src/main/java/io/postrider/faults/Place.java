// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.internal.CompetingSql;
import io.postrider.internal.LeaseSql;
import io.postrider.internal.SettleOneSql;
import io.postrider.internal.Sql;
import io.postrider.table.TableNames;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Where a relay touches the world: the statements that it sends to its database, and the two sides of a send. */
public enum Place {
    JOIN,
    TICK,
    DECLARE_DEAD,
    TAKE_SHARDS,
    RELEASE_SHARDS,
    LEAVE,
    READ,
    SETTLE,
    VERDICT,
    READ_LEASES,
    RELEASE_LEASES,
    /** A worker of a competing stream leases rows. */
    CLAIM,
    EXTEND,
    /** A transaction was committed, and its events are handed over to the relay of the same process. */
    HAND_OVER,
    MARK,
    CALM,
    /** An event is handed to the publisher. */
    SEND,
    /** A transaction of a handler is committed. */
    COMMIT,
    /** The destination has taken an event; before it, the relay does not know yet. */
    ANSWER;

    private static final Map<String, Place> BY_STATEMENT = statements(
            new Sql(TableNames.ofDefaults()),
            new LeaseSql(TableNames.ofDefaults()),
            new CompetingSql(TableNames.ofDefaults()));

    /** The place of this statement, by its text; empty for all others. */
    static Optional<Place> of(String statement) {
        return Optional.ofNullable(BY_STATEMENT.get(statement));
    }

    private static Map<String, Place> statements(Sql sql, LeaseSql leases, CompetingSql competing) {
        Map<String, Place> places = new HashMap<>();
        places.put(sql.shards.join, JOIN);
        places.put(sql.shards.tick, TICK);
        places.put(sql.shards.declareDead, DECLARE_DEAD);
        places.put(sql.shards.takeShards, TAKE_SHARDS);
        places.put(sql.shards.releaseShards, RELEASE_SHARDS);
        places.put(sql.shards.leave, LEAVE);
        places.put(sql.read, READ);
        places.put(sql.readFew, READ);
        try {
            places.put(sql.glance, READ);
            places.put(sql.sweep, READ);
        } catch (NoSuchFieldError e) {
            // A version before this one, which has no such statement.
        }
        places.put(sql.settle, SETTLE);
        places.put(sql.settleWithHistory, SETTLE);
        SettleOneSql one = new SettleOneSql(TableNames.ofDefaults());
        places.put(one.settle, SETTLE);
        places.put(one.settleWithHistory, SETTLE);
        places.put(sql.verdict, VERDICT);
        places.put(leases.read, READ_LEASES);
        places.put(leases.release, RELEASE_LEASES);
        places.put(leases.releaseAllBut, RELEASE_LEASES);
        places.put(leases.extend, EXTEND);
        places.put(leases.unknown, VERDICT);
        places.put(competing.tick, TICK);
        places.put(competing.claim, CLAIM);
        places.put(competing.extend, EXTEND);
        places.put(competing.verdict, VERDICT);
        places.put(competing.release, RELEASE_LEASES);
        places.put(competing.releaseAllBut, RELEASE_LEASES);
        places.put(sql.mark, MARK);
        places.put(sql.calm, CALM);
        return Map.copyOf(places);
    }
}
