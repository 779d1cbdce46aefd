// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import io.postrider.spring.OutboxMessage;

/** An application event that goes to the outbox because it says so. */
@OutboxMessage(stream = OrderService.STREAM, key = "orderId", aggregate = "Order")
record OrderPaid(long orderId) {}
