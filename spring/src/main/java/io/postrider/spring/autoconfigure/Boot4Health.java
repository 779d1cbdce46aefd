// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** Health as Spring Boot 4 asks for it. */
record Boot4Health(OutboxHealth outbox) implements HealthIndicator {

    @Override
    public Health health() {
        OutboxHealth.Finding found = outbox.look();
        return (found.up() ? Health.up() : Health.down())
                .withDetails(found.details())
                .build();
    }
}
