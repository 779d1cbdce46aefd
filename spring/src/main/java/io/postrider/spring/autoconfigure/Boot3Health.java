// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;

/** Health as Spring Boot 3 asks for it. */
record Boot3Health(OutboxHealth outbox) implements HealthIndicator {

    @Override
    public Health health() {
        OutboxHealth.Finding found = outbox.look();
        return (found.up() ? Health.up() : Health.down())
                .withDetails(found.details())
                .build();
    }
}
