// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.Map;

/** One of the ways to do a scenario's work. For one thread. */
interface Variant extends AutoCloseable {

    String name();

    /** Does the work once, in this size, and returns what was measured, by the name of the metric. */
    Map<String, Double> round(int size) throws Exception;

    /** Called once after the last round. */
    @Override
    default void close() {}
}
