// SPDX-License-Identifier: Apache-2.0
/** The log of the executable: lines of text or JSON, without a library that every command would have to load. */
@NullMarked
package io.postrider.cli.log;

import org.jspecify.annotations.NullMarked;
