// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

/** A table full of events, one of the ways to empty it, and nothing left over from the round before. */
interface Backlog extends AutoCloseable {

    String name();

    /** The tables to be cleared before each round; the first is the one that is filled. */
    String[] tables();

    /** Fills what shall be in the table before the events that are delivered. */
    default void fillAhead() {}

    /** How many events are not yet delivered. */
    String countLeft();

    /** Delivers all events and returns after how many nanoseconds the last was acknowledged and settled. */
    long drain(int events) throws Exception;

    /** Called once after the last round. */
    @Override
    default void close() {}
}
