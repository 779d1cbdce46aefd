// SPDX-License-Identifier: Apache-2.0
/** What people do with events that are stuck, and what keeps the tables small. */
@NullMarked
package io.postrider.ops;

import org.jspecify.annotations.NullMarked;
