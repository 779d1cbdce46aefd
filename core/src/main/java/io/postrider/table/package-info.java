// SPDX-License-Identifier: Apache-2.0
/** The tables: their names, and the scripts that make them. */
@NullMarked
package io.postrider.table;

import org.jspecify.annotations.NullMarked;
