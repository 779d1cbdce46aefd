// SPDX-License-Identifier: Apache-2.0
/** What whoever is on call types. A command reads or changes through {@code io.postrider.ops} alone. */
@NullMarked
package io.postrider.cli;

import org.jspecify.annotations.NullMarked;
