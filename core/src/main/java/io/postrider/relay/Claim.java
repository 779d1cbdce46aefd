// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/** What entitles a relay to deliver one event; how it is come by is the feed's own business. */
public interface Claim {

    /** Whether a send may still be started at this reading of the ticker. Thread-safe. */
    boolean mayStart(long nanos);
}
