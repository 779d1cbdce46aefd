// SPDX-License-Identifier: Apache-2.0
/** Handlers in the same process, as the destination of a relay; no JDBC. */
@NullMarked
package io.postrider.handler;

import org.jspecify.annotations.NullMarked;
