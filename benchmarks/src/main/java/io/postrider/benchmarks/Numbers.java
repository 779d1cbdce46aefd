// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/** Arithmetic on what was measured. */
final class Numbers {
    private static final MathContext THREE_DIGITS = new MathContext(3);

    private Numbers() {}

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** The value that this share of the sorted values does not exceed. */
    static double percentile(double[] sorted, double share) {
        return sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)];
    }

    /** Whole numbers from 100 on, three digits below: more would only look exact. */
    static double rounded(double value) {
        if (!Double.isFinite(value)) {
            return value;
        }
        return Math.abs(value) >= 100
                ? Math.rint(value)
                : new BigDecimal(value).round(THREE_DIGITS).doubleValue();
    }
}
