// SPDX-License-Identifier: Apache-2.0
/** What a consumer has processed, so that the effects of an event that comes again happen once. */
@NullMarked
package io.postrider.inbox;

import org.jspecify.annotations.NullMarked;
