// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.kafka.MessageFormat;
import io.postrider.relay.Bell;
import io.postrider.relay.Publisher;
import io.postrider.relay.RelayListener;
import io.postrider.spring.SpringOutbox;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

/** The relay in the application, and Kafka as its destination unless there is a Publisher bean. */
@AutoConfiguration(after = PostriderHousekeepingAutoConfiguration.class)
@ConditionalOnBean(Storage.class)
@ConditionalOnProperty(prefix = "postrider.relay", name = "enabled", matchIfMissing = true)
public final class PostriderRelayAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(Publisher.class)
    KafkaPublisher postriderPublisher(
            PostriderProperties properties,
            Environment environment,
            ResourceLoader resources,
            ObjectProvider<KafkaPlace> places) {
        PostriderProperties.Kafka kafka = properties.kafka();
        Map<String, Object> settings = new KafkaSettings(environment, resources).read(kafka);
        places.orderedStream()
                .flatMap(place -> place.details().stream())
                .findFirst()
                .ifPresent(details -> details.addTo(settings));
        if (!settings.containsKey("bootstrap.servers")) {
            throw new SetupException(
                    "The relay is enabled and there is nothing to deliver to: no Kafka brokers are set, and there is no"
                            + " Publisher bean.",
                    "Set spring.kafka.bootstrap-servers or postrider.kafka.bootstrap-servers, add a Publisher bean, or"
                            + " set postrider.relay.enabled=false if another application delivers.");
        }
        MessageFormat format = KafkaFormat.of(kafka, environment);
        try {
            KafkaPublisher.Builder builder = KafkaPublisher.builder(settings)
                    .opensLater()
                    .sendTimeout(kafka.sendTimeout())
                    .maxPayload((int) properties.maxPayload().toBytes())
                    .format(format);
            properties.streams().forEach((stream, given) -> {
                if (given.topic() != null) {
                    builder.topic(stream, given.topic());
                }
            });
            if (kafka.deadLetterTopic() != null) {
                builder.deadLetterTopic(kafka.deadLetterTopic());
            }
            return builder.build();
        } catch (OutboxException e) {
            throw new SetupException(
                    "Events cannot be sent to Kafka with these settings: " + e.getMessage(),
                    "Change what is set under postrider.kafka, postrider.streams or spring.kafka.",
                    e);
        }
    }

    /** Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.autoconfigure.kafka.KafkaConnectionDetails")
    static final class KafkaOfBoot3 {

        @Bean
        Boot3Kafka postriderKafkaPlace(ListableBeanFactory beans) {
            return new Boot3Kafka(beans);
        }
    }

    /** Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails")
    static final class KafkaOfBoot4 {

        @Bean
        Boot4Kafka postriderKafkaPlace(ListableBeanFactory beans) {
            return new Boot4Kafka(beans);
        }
    }

    /** Stopped by its lifecycle; as a bean only if the context fails while it starts. */
    @Bean(destroyMethod = "stop")
    RelayLifecycle postriderRelay(
            Storage storage,
            PostriderProperties properties,
            Environment environment,
            Publisher publisher,
            RelayListeners listeners) {
        return new RelayLifecycle(storage, properties, name(properties, environment), publisher, listeners.wiring());
    }

    @Bean
    RelayListeners postriderListeners(
            ObjectProvider<SpringOutbox> outbox,
            ObjectProvider<RelayListener> listeners,
            ObjectProvider<KafkaPublisher> kafka,
            Chores chores,
            ObjectProvider<PublisherWrapper> wrapper) {
        return new RelayListeners(outbox, listeners, kafka, chores, wrapper);
    }

    /** What the relay hears and who hears of it, found when it starts. */
    record RelayListeners(
            ObjectProvider<SpringOutbox> outbox,
            ObjectProvider<RelayListener> listeners,
            ObjectProvider<KafkaPublisher> kafka,
            Chores chores,
            ObjectProvider<PublisherWrapper> wrapper) {

        RelayLifecycle.Wiring wiring() {
            SpringOutbox found = outbox.getIfAvailable();
            return new RelayLifecycle.Wiring(
                    found == null ? new Bell() : found.bell(),
                    this::all,
                    chores,
                    wrapper.getIfAvailable(() -> publisher -> publisher));
        }

        private RelayListener all() {
            return new Listeners(
                    Stream.concat(listeners.orderedStream(), copies()).toList());
        }

        private Stream<RelayListener> copies() {
            KafkaPublisher publisher = kafka.getIfAvailable();
            return publisher == null || chores.properties().kafka().deadLetterTopic() == null
                    ? Stream.empty()
                    : Stream.of(publisher.deadLetterCopies());
        }
    }

    private static String name(PostriderProperties properties, Environment environment) {
        String given = properties.relay().name();
        return given != null
                ? given
                : environment.getProperty("spring.application.name", "relay") + "-"
                        + ProcessHandle.current().pid();
    }
}
