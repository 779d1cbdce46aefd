// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

/** The payload of an event that {@link OrderService#place} appends by hand. */
record OrderPlaced(long orderId, String item, int quantity) {}
