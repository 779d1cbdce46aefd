// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import io.postrider.OutboxEvent;

/** What was made of an event's payload, and the event. */
public record Message<T>(T body, OutboxEvent event) {}
