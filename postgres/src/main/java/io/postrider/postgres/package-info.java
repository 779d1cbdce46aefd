// SPDX-License-Identifier: Apache-2.0
/** What needs the PostgreSQL driver itself: {@link io.postrider.postgres.CommitSignal}. */
@NullMarked
package io.postrider.postgres;

import org.jspecify.annotations.NullMarked;
