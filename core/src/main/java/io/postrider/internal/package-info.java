// SPDX-License-Identifier: Apache-2.0
/** Shared by Postrider's own packages; not part of the API. */
@NullMarked
package io.postrider.internal;

import org.jspecify.annotations.NullMarked;
