// SPDX-License-Identifier: Apache-2.0
/** Money transfers through a real PostgreSQL and a real Kafka; start reading at {@link io.postrider.demo.Demo}. */
@NullMarked
package io.postrider.demo;

import org.jspecify.annotations.NullMarked;
