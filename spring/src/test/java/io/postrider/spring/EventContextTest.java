// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import brave.Tracing;
import brave.propagation.CurrentTraceContext;
import brave.propagation.ThreadLocalCurrentTraceContext;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.brave.bridge.BraveCurrentTraceContext;
import io.micrometer.tracing.brave.bridge.BraveTracer;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class EventContextTest {
    private static final String TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private static TestApplication app;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Tracer tracer() {
            CurrentTraceContext current = ThreadLocalCurrentTraceContext.create();
            Tracing tracing = Tracing.newBuilder().currentTraceContext(current).build();
            return new BraveTracer(tracing.tracer(), new BraveCurrentTraceContext(current));
        }

        @Bean
        EventContext tenant() {
            return () -> Map.of("tenant", "north", "X-Correlation-ID", "never: others are asked first");
        }
    }

    @BeforeAll
    static void start() {
        app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event");
    }

    @AfterEach
    void clearContext() {
        MDC.clear();
    }

    private static @Nullable String header(String name) {
        return app.jdbc().queryForObject("SELECT headers ->> ? FROM outbox_event", String.class, name);
    }

    private static void append(OutboxEvent event) {
        app.transaction().executeWithoutResult(tx -> app.bean(Outbox.class).append(event));
    }

    @Test
    void an_event_carries_the_correlation_and_the_trace_of_the_thread_that_appends_it() {
        MDC.put("X-Correlation-ID", "request-7");
        MDC.put("traceparent", TRACEPARENT);
        OutboxEvent event = OutboxEvent.of("orders", "Placed")
                .aggregate("Order", 7)
                .unkeyed()
                .json("{}")
                .header("own", "value")
                .maxAttempts(3)
                .expiresIn(Duration.ofHours(1))
                .dedupKey("order-7")
                .build();
        append(event);
        append(OutboxEvent.of("orders", "Twin").dedupKey("order-7").build());
        assertThat(header("X-Correlation-ID")).isEqualTo("request-7");
        assertThat(header("traceparent")).isEqualTo(TRACEPARENT);
        assertThat(header("tenant")).isEqualTo("north");
        assertThat(header("own")).isEqualTo("value");
        assertThat(
                        app.jdbc()
                                .queryForMap(
                                        "SELECT event_id, event_key, aggregate_id, max_attempts, occurred_at,"
                                                + " expires_at > clock_timestamp() + interval '50 min' AS in_time, dedup_key, convert_from(payload, 'UTF8') AS body FROM outbox_event"))
                .containsEntry("event_id", event.id())
                .containsEntry("event_key", null)
                .containsEntry("aggregate_id", "7")
                .containsEntry("max_attempts", 3)
                .containsEntry("in_time", true)
                .containsEntry("dedup_key", "order-7")
                .containsEntry("body", "{}");
    }

    @Test
    void the_span_of_the_tracer_goes_before_what_log_lines_say() {
        MDC.put("traceparent", TRACEPARENT);
        Tracer tracer = app.bean(Tracer.class);
        Span span = tracer.nextSpan().start();
        try (Tracer.SpanInScope scope = tracer.withSpan(span)) {
            assertThat(scope).isNotNull();
            append(OutboxEvent.of("orders", "Placed").build());
        } finally {
            span.end();
        }
        String trace = span.context().traceId();
        assertThat(header("traceparent"))
                .isEqualTo("00-" + "0".repeat(32 - trace.length()) + trace + "-"
                        + span.context().spanId() + "-01");
    }

    @Test
    void what_the_event_says_itself_goes_before() {
        MDC.put("X-Correlation-ID", "request-7");
        append(OutboxEvent.of("orders", "Placed")
                .header("x-correlation-id", "mine")
                .build());
        assertThat(header("x-correlation-id")).isEqualTo("mine");
        assertThat(header("X-Correlation-ID")).isNull();
    }

    @Test
    void what_is_no_plain_text_is_left_out_and_breaks_nothing() {
        MDC.put("X-Correlation-ID", "line\nbreak");
        MDC.put("traceparent", "not a trace");
        append(OutboxEvent.of("orders", "Placed").build());
        assertThat(header("traceparent")).isNull();
        assertThat(header("tenant")).isEqualTo("north");
    }
}
