// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.function.Consumer;

/** Something to measure. */
interface Scenario {

    /**
     * Starts the servers, measures all variants and ends the servers.
     *
     * @param progress told what is about to run
     */
    Results measure(Consumer<String> progress) throws Exception;
}
