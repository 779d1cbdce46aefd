// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.postrider.micrometer.StreamNames;
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

    /** As many as meters have. */
    @Bean
    StreamNames postriderObservedStreams(ObjectProvider<PostriderProperties> properties) {
        PostriderProperties given = properties.getIfAvailable();
        return new StreamNames(given == null ? 0 : given.metrics().maxStreams());
    }

    @Bean
    ObservedAppends postriderObservedAppends(ObjectProvider<ObservationRegistry> registry, StreamNames names) {
        return new ObservedAppends(registry::getIfAvailable, names);
    }

    @Bean
    PublisherWrapper postriderObservedPublisher(ObjectProvider<ObservationRegistry> registry, StreamNames names) {
        return publisher -> {
            ObservationRegistry found = registry.getIfAvailable();
            return found == null || found.isNoop() ? publisher : new ObservedPublisher(publisher, found, names);
        };
    }
}
