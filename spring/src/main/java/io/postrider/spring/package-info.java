// SPDX-License-Identifier: Apache-2.0
/** The outbox in Spring's transactions: appending, application events as outbox events, and what tests need. */
@NullMarked
package io.postrider.spring;

import org.jspecify.annotations.NullMarked;
