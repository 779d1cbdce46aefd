// SPDX-License-Identifier: Apache-2.0
/** The outbox and the feeds over JDBC. */
@NullMarked
package io.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
