// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.OutboxEvent;
import java.sql.Connection;
import java.sql.SQLException;

/** One of the ways by which an event gets from a transaction to Kafka. For one thread. */
interface Carrier extends AutoCloseable {

    String name();

    /** Called before each round. */
    void open();

    /** In the open transaction, before it is committed. */
    void beforeCommit(Connection connection, OutboxEvent event) throws SQLException;

    /** Right after the commit. */
    void afterCommit(OutboxEvent event);

    /** Called after each round. */
    @Override
    void close();

    /** Called after the last round. */
    default void end() {}
}
