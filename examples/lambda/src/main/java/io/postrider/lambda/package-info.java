// SPDX-License-Identifier: Apache-2.0
/** A scheduled function that delivers what is in the outbox. */
@NullMarked
package io.postrider.lambda;

import org.jspecify.annotations.NullMarked;
