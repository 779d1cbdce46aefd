// SPDX-License-Identifier: Apache-2.0
/** The engine: takes events from a {@link io.postrider.relay.Feed} and carries them to a {@link Publisher}. No JDBC. */
@NullMarked
package io.postrider.relay;

import org.jspecify.annotations.NullMarked;
