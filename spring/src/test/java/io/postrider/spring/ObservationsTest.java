// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import brave.Tracing;
import brave.handler.MutableSpan;
import brave.handler.SpanHandler;
import brave.propagation.CurrentTraceContext;
import brave.propagation.ThreadLocalCurrentTraceContext;
import brave.propagation.TraceContext;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.brave.bridge.BraveCurrentTraceContext;
import io.micrometer.tracing.brave.bridge.BravePropagator;
import io.micrometer.tracing.brave.bridge.BraveTracer;
import io.micrometer.tracing.brave.bridge.W3CPropagation;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Publisher;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Spans of a real tracer. */
class ObservationsTest {
    private static final List<MutableSpan> SPANS = new CopyOnWriteArrayList<>();
    private static TestApplication app;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        Tracing tracing() {
            return Tracing.newBuilder()
                    .currentTraceContext(ThreadLocalCurrentTraceContext.create())
                    .propagationFactory(new W3CPropagation())
                    .traceId128Bit(true)
                    .addSpanHandler(new SpanHandler() {
                        @Override
                        public boolean end(TraceContext context, MutableSpan span, Cause cause) {
                            SPANS.add(span);
                            return true;
                        }
                    })
                    .build();
        }

        @Bean
        Tracer tracer(Tracing tracing) {
            CurrentTraceContext current = tracing.currentTraceContext();
            return new BraveTracer(tracing.tracer(), new BraveCurrentTraceContext(current));
        }

        @Bean
        ObservationRegistry registry(Tracer tracer, Tracing tracing) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig()
                    .observationHandler(new FirstMatchingCompositeObservationHandler(
                            new PropagatingReceiverTracingObservationHandler<>(tracer, new BravePropagator(tracing)),
                            new DefaultTracingObservationHandler(tracer)));
            return registry;
        }

        /** Takes runs too, as Kafka does. */
        @Bean
        Publisher destination() {
            return new Publisher() {
                @Override
                public CompletableFuture<?> publish(OutboxEvent event) {
                    return event.type().equals("Bad")
                            ? CompletableFuture.failedFuture(new PermanentFailureException("REFUSED", "no"))
                            : CompletableFuture.completedFuture(null);
                }

                @Override
                public Optional<Run> run() {
                    return Optional.of(this::publish);
                }
            };
        }
    }

    @BeforeAll
    static void start() {
        app = TestApplication.run(App.class, TestApplication.WITHOUT_JPA);
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    /** Each test has a stream of its own: what fails is sent again later. */
    private static void append(String stream, String... types) {
        Outbox outbox = app.bean(Outbox.class);
        app.transaction()
                .executeWithoutResult(tx -> outbox.append(Stream.of(types)
                        .map(type -> OutboxEvent.of(stream, type).build())
                        .toList()));
    }

    private static List<MutableSpan> spans(String stream, String outcome) {
        return SPANS.stream()
                .filter(each -> stream.equals(each.tag("stream")) && outcome.equals(each.tag("outcome")))
                .toList();
    }

    private static MutableSpan span(String stream, String outcome) {
        await().until(() -> !spans(stream, outcome).isEmpty());
        return spans(stream, outcome).get(0);
    }

    @Test
    void the_span_of_publishing_is_a_child_of_the_span_of_appending() {
        append("orders", "Placed");
        MutableSpan append = span("orders", "appended");
        MutableSpan publish = span("orders", "published");
        assertThat(append.name()).isEqualTo("append orders");
        assertThat(publish.name()).isEqualTo("publish orders");
        assertThat(publish.traceId()).isEqualTo(append.traceId());
        assertThat(publish.parentId()).isEqualTo(append.id());
        assertThat(publish.kind()).isEqualTo(brave.Span.Kind.PRODUCER);
        assertThat(List.of(append, publish))
                .allSatisfy(each -> assertThat(each.tag("type")).isEqualTo("Placed"));
    }

    @Test
    void what_fails_is_seen_to_fail() {
        append("broken", "Bad");
        assertThat(span("broken", "failed").error()).isInstanceOf(PermanentFailureException.class);
        assertThatThrownBy(() -> app.bean(Outbox.class)
                        .append(OutboxEvent.of("outside", "Placed").build()))
                .isInstanceOf(OutboxException.class);
        assertThat(span("outside", "failed").name()).isEqualTo("append outside");
    }

    @Test
    void one_append_of_several_events_is_one_span_and_each_is_published_in_its_trace() {
        append("pairs", "Placed", "Paid");
        MutableSpan append = span("pairs", "appended");
        assertThat(append.tag("type")).isEqualTo("several");
        await().untilAsserted(() -> assertThat(spans("pairs", "published"))
                .extracting(MutableSpan::traceId)
                .containsExactly(append.traceId(), append.traceId()));
    }
}
