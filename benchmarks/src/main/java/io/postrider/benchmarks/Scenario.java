// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.function.Consumer;

/** Something to measure. */
interface Scenario {

    /**
     * Measures all variants in turns.
     *
     * @param rig fresh, or used by other scenarios before
     * @param progress told what is about to run
     */
    Results measure(Rig rig, Consumer<String> progress) throws Exception;
}
