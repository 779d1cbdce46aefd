// SPDX-License-Identifier: Apache-2.0
/** Meters of the outbox, by Micrometer. */
@NullMarked
package io.postrider.micrometer;

import org.jspecify.annotations.NullMarked;
