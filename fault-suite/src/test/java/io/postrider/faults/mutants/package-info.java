// SPDX-License-Identifier: Apache-2.0
/** Puts known mistakes into copies of the product's classes, and sees which test finds each. */
@NullMarked
package io.postrider.faults.mutants;

import org.jspecify.annotations.NullMarked;
