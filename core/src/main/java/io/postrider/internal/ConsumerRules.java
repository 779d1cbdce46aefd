// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.OutboxException;

/** The limits that the name of a consumer keeps, checked before anything is written. */
public final class ConsumerRules {
    public static final int MAX_CONSUMER_BYTES = 128;

    private ConsumerRules() {}

    /** Throws an {@link OutboxException} that names the first rule that the name breaks. */
    public static void check(String consumer) {
        TextRule.check("its name", consumer, MAX_CONSUMER_BYTES).ifPresent(broken -> {
            throw new OutboxException("Consumer '" + TextRule.shown(consumer) + "' was refused: " + broken.what() + ". "
                    + broken.advice());
        });
    }
}
