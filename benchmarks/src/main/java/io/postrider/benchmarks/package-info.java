// SPDX-License-Identifier: Apache-2.0
/** Measures Postrider against other ways to do the same, on a real PostgreSQL and a real Kafka. */
@NullMarked
package io.postrider.benchmarks;

import org.jspecify.annotations.NullMarked;
