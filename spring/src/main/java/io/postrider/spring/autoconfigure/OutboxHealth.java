// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.ops.Relays;
import io.postrider.relay.Relay;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether events can be stored and are being delivered from here. A destination that does not answer is shown and is
 * not down: restarting the application would not help.
 */
record OutboxHealth(Relays relays, @Nullable RelayLifecycle relay) {

    /** What both versions of Spring Boot make their health of. */
    record Finding(boolean up, Map<String, Object> details) {}

    Finding look() {
        Map<String, Object> details = new LinkedHashMap<>();
        boolean up = true;
        if (relay == null) {
            details.put("relay", "disabled in this application");
        } else {
            Optional<Relay> running = relay.relay();
            up = running.isPresent();
            details.put("relay", running.map(Relay::name).orElse("not running"));
            running.ifPresent(each -> {
                details.put("inFlight", each.inFlight());
                details.put("published", each.publishedCount());
            });
        }
        try {
            List<Relays.Member> alive =
                    relays.members().stream().filter(Relays.Member::alive).toList();
            details.put("relaysAlive", alive.size());
            details.put(
                    "streamsWithoutDestination",
                    alive.stream()
                            .flatMap(each -> each.closed().stream())
                            .distinct()
                            .toList());
        } catch (OutboxException e) {
            details.put("error", String.valueOf(e.getMessage()));
            up = false;
        }
        return new Finding(up, details);
    }
}
