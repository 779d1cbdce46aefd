// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.postrider.micrometer.BacklogGauges;
import io.postrider.micrometer.HandlerMeters;
import io.postrider.micrometer.RelayMeters;
import io.postrider.micrometer.StreamTags;
import io.postrider.ops.Backlog;
import io.postrider.ops.Relays;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What shows how the outbox fares, where the application has the means: meters, health, an endpoint. */
@AutoConfiguration(
        after = PostriderRelayAutoConfiguration.class,
        afterName = {
            // Spring Boot 3
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            // Spring Boot 4
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnBean(Storage.class)
public final class PostriderActuatorAutoConfiguration {

    /** Micrometer. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnSingleCandidate(MeterRegistry.class)
    static final class Meters {

        @Bean
        StreamTags postriderStreamTags(PostriderProperties properties) {
            return new StreamTags(properties.metrics().maxStreams());
        }

        @Bean
        RelayMeters postriderMeters(MeterRegistry registry, PostriderProperties properties, StreamTags tags) {
            return new RelayMeters(registry, properties.metrics().prefix(), tags);
        }

        @Bean
        HandlerMeters postriderHandlerMeters(MeterRegistry registry, PostriderProperties properties, StreamTags tags) {
            return new HandlerMeters(registry, properties.metrics().prefix(), tags);
        }

        @Bean
        GaugesLifecycle postriderGauges(
                Storage storage, MeterRegistry registry, PostriderProperties properties, StreamTags tags) {
            Backlog backlog = Backlog.of(storage.dataSource(), storage.tables());
            PostriderProperties.Metrics settings = properties.metrics();
            return new GaugesLifecycle(
                    new BacklogGauges(backlog, registry, settings.prefix(), settings.refresh(), tags));
        }
    }

    /** The endpoint. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static final class Management {

        @Bean
        @ConditionalOnAvailableEndpoint
        OutboxEndpoint postriderEndpoint(Storage storage, ObjectProvider<RelayLifecycle> relay) {
            return new OutboxEndpoint(storage, relay.getIfAvailable());
        }
    }

    /** Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
    @ConditionalOnProperty(prefix = "management.health.outbox", name = "enabled", matchIfMissing = true)
    static final class HealthOfBoot3 {

        @Bean
        Boot3Health outboxHealthIndicator(
                Storage storage, PostriderProperties properties, ObjectProvider<RelayLifecycle> relay) {
            return new Boot3Health(health(storage, properties, relay));
        }
    }

    /** Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    @ConditionalOnProperty(prefix = "management.health.outbox", name = "enabled", matchIfMissing = true)
    static final class HealthOfBoot4 {

        @Bean
        Boot4Health outboxHealthIndicator(
                Storage storage, PostriderProperties properties, ObjectProvider<RelayLifecycle> relay) {
            return new Boot4Health(health(storage, properties, relay));
        }
    }

    private static OutboxHealth health(
            Storage storage, PostriderProperties properties, ObjectProvider<RelayLifecycle> relay) {
        return new OutboxHealth(
                Relays.of(storage.dataSource(), storage.tables()),
                Backlog.of(storage.dataSource(), storage.tables()),
                properties.health(),
                relay.getIfAvailable());
    }
}
