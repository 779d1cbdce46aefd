// SPDX-License-Identifier: Apache-2.0
/** Runs the engine over a simulated database, destination and clock: one seed is one schedule. For one thread each. */
@NullMarked
package io.postrider.faults.simulator;

import org.jspecify.annotations.NullMarked;
