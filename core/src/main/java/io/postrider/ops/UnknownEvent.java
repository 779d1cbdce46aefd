// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An event that may or may not have had its effect, as it was when it was looked at.
 *
 * @param id its row; pages are cut by it
 * @param revision what an action on it must still find
 * @param holdsKey whether later events of its key wait for it
 * @param since when it was tried last
 */
public record UnknownEvent(
        long id,
        UUID eventId,
        int revision,
        String stream,
        Optional<String> key,
        String type,
        Optional<String> aggregateType,
        Optional<String> aggregateId,
        boolean holdsKey,
        int attempts,
        String errorCode,
        String errorMessage,
        Instant createdAt,
        Instant since) {}
