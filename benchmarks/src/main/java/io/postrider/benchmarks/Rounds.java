// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/** Runs the variants of a scenario in turns, so that what changes on the machine meets all of them. */
record Rounds(int count, int warmUpSize, int size) {

    /** @param progress told what is about to run */
    Results run(List<? extends Variant> variants, Results results, Consumer<String> progress) throws Exception {
        try {
            for (Variant variant : variants) {
                progress.accept("warm-up " + variant.name());
                variant.round(warmUpSize);
            }
            for (int i = 0; i < count; i++) {
                // Another one first each time, so that none always follows the same.
                Collections.rotate(variants, 1);
                for (Variant variant : variants) {
                    progress.accept("round " + (i + 1) + " of " + count + " " + variant.name());
                    results.add(variant.name(), variant.round(size));
                }
            }
            return results;
        } finally {
            variants.forEach(Variant::close);
        }
    }
}
