// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.io.IOException;

/**
 * A way to tell people. It is used by one thread at a time, and by as many processes as run {@link Alerts} with a channel
 * of this name: of these one tells.
 */
public interface AlertChannel {
    /** What was told is remembered under this name: two of the same name are one. */
    String name();

    /**
     * Returns when it was told. It should not take longer than {@link Alerts.Builder#claim}, after which another process
     * takes over.
     *
     * @throws IOException if it was not, or nobody knows; it is tried again later. The message is logged.
     */
    void tell(Alert alert) throws IOException;
}
