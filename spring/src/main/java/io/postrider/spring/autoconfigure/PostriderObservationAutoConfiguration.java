// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Spans and timers of appending and publishing, if somebody observes the application. */
@AutoConfiguration(before = PostriderAutoConfiguration.class)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnProperty(prefix = "postrider", name = "enabled", matchIfMissing = true)
public final class PostriderObservationAutoConfiguration {

    @Bean
    ObservedAppends postriderObservedAppends(ObjectProvider<ObservationRegistry> registry) {
        return new ObservedAppends(registry::getIfAvailable);
    }

    @Bean
    PublisherWrapper postriderObservedPublisher(ObjectProvider<ObservationRegistry> registry) {
        return publisher -> {
            ObservationRegistry found = registry.getIfAvailable();
            return found == null || found.isNoop() ? publisher : new ObservedPublisher(publisher, found);
        };
    }
}
