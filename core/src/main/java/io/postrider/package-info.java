// SPDX-License-Identifier: Apache-2.0
/** What an application needs to write events: {@link io.postrider.Outbox} and {@link io.postrider.OutboxEvent}. */
@NullMarked
package io.postrider;

import org.jspecify.annotations.NullMarked;
