// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.Outbox;
import io.postrider.inbox.Inbox;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.spring.AppendObserver;
import io.postrider.spring.EventContext;
import io.postrider.spring.EventJson;
import io.postrider.spring.EventMapping;
import io.postrider.spring.EventWriter;
import io.postrider.spring.MappedEvents;
import io.postrider.spring.RecordingOutbox;
import io.postrider.spring.SpringInbox;
import io.postrider.spring.SpringOutbox;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ConfigurableTransactionManager;

/** The outbox of an application with a DataSource: appending, its tables, and application events that are mapped. */
@AutoConfiguration(
        afterName = {
            // Spring Boot 3
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
            // Spring Boot 4
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
            "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration"
        })
@ConditionalOnClass(DataSourceUtils.class)
@ConditionalOnProperty(prefix = "postrider", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PostriderProperties.class)
public final class PostriderAutoConfiguration {

    /** What needs a database; not there when a test records what is appended. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(DataSource.class)
    @ConditionalOnMissingBean(RecordingOutbox.class)
    static final class Tables {

        @Bean
        Storage postriderStorage(ListableBeanFactory beans, PostriderProperties properties) {
            return Storage.choose(beans, properties);
        }

        @Bean
        SchemaAtStart postriderSchema(Storage storage, PostriderProperties properties) {
            return new SchemaAtStart(storage, properties.schema().mode());
        }

        @Bean
        @ConditionalOnMissingBean(Outbox.class)
        SpringOutbox outbox(
                Storage storage,
                PostriderProperties properties,
                ObjectProvider<EventContext> contexts,
                ObjectProvider<AppendObserver> observer) {
            SpringOutbox.Settings settings =
                    new SpringOutbox.Settings(storage.tables(), payloadLimit(properties), properties.strictKeyOrder());
            List<EventContext> all = contexts.orderedStream().toList();
            return new SpringOutbox(storage.dataSource(), settings, () -> headers(all), observer.getIfAvailable());
        }

        /** For transactions of its own. */
        @Bean
        @ConditionalOnMissingBean
        JdbcInbox postriderInbox(Storage storage) {
            return JdbcInbox.of(storage.dataSource()).withTables(storage.tables());
        }

        @Bean
        @ConditionalOnMissingBean(Inbox.class)
        SpringInbox inbox(Storage storage, JdbcInbox rows) {
            return new SpringInbox(storage.dataSource(), rows);
        }

        private static int payloadLimit(PostriderProperties properties) {
            long bytes = properties.maxPayload().toBytes();
            if (bytes < 1 || bytes > Integer.MAX_VALUE / 16) {
                throw new SetupException(
                        "postrider.max-payload is " + bytes + " bytes, and it must be between 1 and "
                                + Integer.MAX_VALUE / 16 + ".",
                        "Change postrider.max-payload.");
            }
            return (int) bytes;
        }

        private static Map<String, String> headers(List<EventContext> contexts) {
            Map<String, String> all = new LinkedHashMap<>();
            contexts.forEach(context -> context.headers().forEach(all::putIfAbsent));
            return all;
        }

        /** When all beans are there, so that looking for transaction managers makes none of them too early. */
        @Bean
        SmartInitializingSingleton postriderEnlistment(ListableBeanFactory beans, ObjectProvider<SpringOutbox> outbox) {
            return () ->
                    outbox.ifAvailable(found -> beans.getBeansOfType(ConfigurableTransactionManager.class, false, true)
                            .values()
                            .forEach(found::watch));
        }
    }

    /** An application that makes its beans late still delivers from the start. */
    @Bean
    static LazyInitializationExcludeFilter postriderIsNeverLazy() {
        return (name, definition, type) -> SchemaAtStart.class.equals(type)
                || RelayLifecycle.class.equals(type)
                || WorkersLifecycle.class.equals(type)
                || HousekeepingLifecycle.class.equals(type)
                || SmartInitializingSingleton.class.equals(type)
                || "postriderDashboard".equals(name)
                || "postriderGauges".equals(name);
    }

    @Bean
    @Order(10)
    MdcContext postriderMdcContext() {
        return new MdcContext();
    }

    @Bean
    MappedEvents postriderMappedEvents(
            ObjectProvider<Outbox> outbox,
            ObjectProvider<EventMapping<?>> mappings,
            ObjectProvider<EventWriter> writers) {
        return new MappedEvents(
                events -> outbox.getObject().append(events),
                mappings.orderedStream().toList(),
                () -> chosen(writers));
    }

    /** What the application has chosen goes before JSON, which is there by itself. */
    private static @Nullable EventWriter chosen(ObjectProvider<EventWriter> writers) {
        List<EventWriter> all = writers.orderedStream().toList();
        return all.stream()
                .filter(each -> !(each instanceof EventJson))
                .findFirst()
                .orElse(all.isEmpty() ? null : all.get(0));
    }

    /** A Serializer of Kafka in the place of JSON. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(prefix = "postrider.append", name = "value-serializer")
    static final class WithSerializer {

        @Bean
        @Primary
        SerializerWriter postriderSerializer(
                PostriderProperties properties, Environment environment, ResourceLoader resources) {
            Class<?> type = Objects.requireNonNull(properties.append().valueSerializer());
            Map<String, Object> settings = new KafkaSettings(environment, resources).ofSerializers(properties.kafka());
            return SerializerWriter.of(type, properties, settings);
        }
    }

    /** Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
    static final class WithJackson3 {

        @Bean
        @ConditionalOnSingleCandidate(tools.jackson.databind.json.JsonMapper.class)
        @ConditionalOnMissingBean
        EventJson postriderJson(tools.jackson.databind.json.JsonMapper mapper) {
            return new Jackson3Json(mapper);
        }
    }

    /** Spring Boot 3, or Jackson 2 in Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
    static final class WithJackson2 {

        @Bean
        @ConditionalOnSingleCandidate(com.fasterxml.jackson.databind.ObjectMapper.class)
        @ConditionalOnMissingBean
        EventJson postriderJackson2(com.fasterxml.jackson.databind.ObjectMapper mapper) {
            return new Jackson2Json(mapper);
        }
    }
}
