// SPDX-License-Identifier: Apache-2.0
/** An order service with an outbox; start reading at {@link io.postrider.orders.OrderService}. */
@NullMarked
package io.postrider.orders;

import org.jspecify.annotations.NullMarked;
