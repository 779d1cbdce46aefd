// SPDX-License-Identifier: Apache-2.0
/** The admin API and the dashboard, behind a handler that any HTTP server can call. */
@NullMarked
package io.postrider.server;

import org.jspecify.annotations.NullMarked;
