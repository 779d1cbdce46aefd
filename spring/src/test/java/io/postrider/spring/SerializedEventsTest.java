// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.Outbox;
import io.postrider.OutboxException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** Payloads of a format that is neither JSON nor known here. */
class SerializedEventsTest {
    private static final AtomicInteger WRITTEN = new AtomicInteger();
    private static final AtomicInteger CLOSED = new AtomicInteger();

    @OutboxMessage(stream = "measures", key = "sensor")
    record Measured(String sensor, int value) {}

    /** Such as those of Avro and Protobuf: asks a registry, writes an id before the bytes, refuses what has no schema. */
    public static final class ShortSerializer implements Serializer<Object> {
        private String registry = "";

        @Override
        public void configure(Map<String, ?> settings, boolean isKey) {
            assertThat(isKey).isFalse();
            registry = settings.get("schema.registry.url") + " " + settings.get("security.protocol") + " "
                    + settings.get("schema.strict");
        }

        @Override
        public byte[] serialize(String topic, Object body) {
            throw new AssertionError("the one with headers is called");
        }

        @Override
        public byte[] serialize(String topic, Headers headers, Object body) {
            if (!(body instanceof Measured measured)) {
                throw new SerializationException("no schema for this");
            }
            WRITTEN.incrementAndGet();
            headers.add("schema", (topic + "-value " + registry).getBytes(StandardCharsets.UTF_8));
            return new byte[] {0, 7, (byte) measured.value()};
        }

        @Override
        public void close() {
            CLOSED.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    private static TestApplication run(String... more) {
        String[] all = new String[more.length + 2];
        all[0] = TestApplication.WITHOUT_JPA;
        all[1] = TestApplication.WITHOUT_RELAY;
        System.arraycopy(more, 0, all, 2, more.length);
        return TestApplication.run(App.class, all);
    }

    @Test
    void a_serializer_of_kafka_writes_once_at_the_append() {
        try (TestApplication app = run(
                "postrider.append.value-serializer=" + ShortSerializer.class.getName(),
                "postrider.append.content-type=application/vnd.short",
                "postrider.append.properties.schema.strict=yes",
                "postrider.streams.measures.topic=measures.v2",
                "spring.kafka.security.protocol=SASL_SSL",
                "spring.kafka.properties.schema.registry.url=http://registry")) {
            EventWriter events = app.bean(EventWriter.class);
            Outbox outbox = app.bean(Outbox.class);
            app.transaction().executeWithoutResult(tx -> {
                outbox.append(events.event("others", "Measured", new Measured("a", 1))
                        .key("a")
                        .build());
                app.context().publishEvent(new Measured("b", 2));
            });
            assertThat(WRITTEN).hasValue(2);
            assertThat(app.jdbc()
                            .queryForList(
                                    "SELECT stream || ' ' || event_key || ' ' || encode(payload, 'hex') || ' ' ||"
                                            + " content_type || ' ' || (headers ->> 'schema') FROM outbox_event ORDER BY id",
                                    String.class))
                    .containsExactly(
                            "others a 000701 application/vnd.short others-value http://registry SASL_SSL yes",
                            "measures b 000702 application/vnd.short measures.v2-value http://registry SASL_SSL yes");
            assertThatThrownBy(() -> events.event("measures", "Other", "text"))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("An object of java.lang.String cannot be written by " + ShortSerializer.class.getName()
                            + " (event Other, stream measures): no schema for this. Nothing was appended.");
            assertThat(app.bean(EventJson.class).write(Map.of("a", 1)))
                    .asString()
                    .isEqualTo("{\"a\":1}");
            assertThat(CLOSED).hasValue(0);
        }
        assertThat(CLOSED).hasValue(1);
    }

    @Test
    void a_class_that_is_no_serializer_fails_at_start() {
        assertThatThrownBy(() -> run("postrider.append.value-serializer=java.lang.StringBuilder")
                        .close())
                .hasStackTraceContaining("postrider.append.value-serializer is java.lang.StringBuilder, which cannot be"
                        + " used: it is no org.apache.kafka.common.serialization.Serializer");
    }
}
