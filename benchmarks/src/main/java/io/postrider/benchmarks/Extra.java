// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

/** What a transaction does beside its business row. Thread-safe. */
interface Extra {

    String name();

    /** In the open transaction. */
    void in(Connection connection, int number) throws SQLException;

    /** Called before each round, with empty tables. */
    default void open() {}

    /** Right after the commit. */
    default void committed(Connection connection) {}

    /** What else it says about a round in which so many were committed; right after the last. */
    default Map<String, Double> measured(double transactions) {
        return Map.of();
    }

    /** Called after each round. */
    default void close() {}
}
