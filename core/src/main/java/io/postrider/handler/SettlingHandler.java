// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.relay.Delivery;
import java.util.List;

/**
 * A handler that is given deliveries rather than messages, because it settles them itself; see {@code
 * io.postrider.jdbc.SameTransaction}. Must be thread-safe.
 */
public interface SettlingHandler {

    /** How many it can take at once. */
    int most();

    /**
     * Handles all of these or none.
     *
     * @param deliveries of different keys; if several fail together, each is given to it once more alone
     * @return what became of all of them
     */
    Handled handle(List<Delivery> deliveries, Context context) throws Exception;
}
