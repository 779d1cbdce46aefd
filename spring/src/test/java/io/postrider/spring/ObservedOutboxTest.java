// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.relay.PermanentFailureException;
import io.postrider.spring.autoconfigure.RelayLifecycle;
import io.postrider.testkit.RecordingPublisher;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters, health and the endpoint, with a destination of the application's own. */
class ObservedOutboxTest {
    private static TestApplication app;
    private static Outbox outbox;
    private static RecordingPublisher publisher;
    private static MeterRegistry meters;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        RecordingPublisher publisher() {
            return new RecordingPublisher();
        }
    }

    @BeforeAll
    static void start() {
        app = TestApplication.run(
                App.class,
                TestApplication.WITHOUT_JPA,
                "postrider.metrics.refresh=200ms",
                "postrider.metrics.max-streams=3",
                "postrider.health.max-cycle-age=1s",
                "postrider.health.max-dead=2",
                "postrider.health.max-held-keys=1",
                "spring.jmx.enabled=true",
                "management.endpoints.jmx.exposure.include=outbox");
        outbox = app.bean(Outbox.class);
        publisher = app.bean(RecordingPublisher.class);
        meters = app.bean(MeterRegistry.class);
        publisher.failWhen(
                event -> event.type().equals("Bad"), new PermanentFailureException("REFUSED", "never", null));
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void clear() {
        app.jdbc().execute("DELETE FROM outbox_event");
        meters.clear();
    }

    private static void append(String stream, String... types) {
        app.transaction()
                .executeWithoutResult(tx -> List.of(types)
                        .forEach(type ->
                                outbox.append(OutboxEvent.of(stream, type).build())));
    }

    private static double count(String name, String stream) {
        Counter counter = meters.find(name).tag("stream", stream).counter();
        return counter == null ? 0 : counter.count();
    }

    private static double gauge(String name, String stream) {
        Gauge gauge = meters.find(name).tag("stream", stream).gauge();
        return gauge == null ? Double.NaN : gauge.value();
    }

    /** What JMX shows of the endpoint is what Spring Boot makes of it, parameters that may be left out included. */
    private static Object endpoint(String operation, @Nullable Object... arguments) throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        var name = server.queryNames(new ObjectName("org.springframework.boot:type=Endpoint,name=Outbox,*"), null)
                .iterator()
                .next();
        String[] signature = new String[arguments.length];
        Arrays.fill(signature, String.class.getName());
        return server.invoke(name, operation, arguments, signature);
    }

    @Test
    void deliveries_and_failures_are_counted_by_stream() {
        append("orders", "Good", "Good", "Bad");
        await().untilAsserted(() -> {
            assertThat(count("outbox.events.published", "orders")).isEqualTo(2);
            assertThat(count("outbox.events.failed", "orders")).isEqualTo(1);
            assertThat(count("outbox.events.dead_letter", "orders")).isEqualTo(1);
            assertThat(meters.get("outbox.events.processing.time")
                            .tag("stream", "orders")
                            .timer()
                            .count())
                    .isEqualTo(2);
        });
        await().untilAsserted(() -> {
            assertThat(gauge("outbox.events.dead", "orders")).isEqualTo(1);
            assertThat(gauge("outbox.events.pending", "orders")).isZero();
            assertThat(gauge("outbox.events.processing", "orders")).isZero();
            assertThat(gauge("outbox.events.oldest.pending", "orders")).isZero();
        });
    }

    @Test
    @SuppressWarnings("unchecked")
    void the_endpoint_shows_requeues_pauses_and_resumes() throws Exception {
        append("orders", "Bad");
        await().untilAsserted(() -> assertThat(app.jdbc().queryForList("SELECT status FROM outbox_event", String.class))
                .containsExactly("DEAD"));
        Map<String, Object> overview = (Map<String, Object>) endpoint("overview");
        assertThat((List<Map<String, Object>>) overview.get("deadLetters"))
                .singleElement()
                .satisfies(letter ->
                        assertThat(letter).containsEntry("type", "Bad").containsEntry("errorCode", "REFUSED"));
        assertThat((List<Map<String, Object>>) overview.get("relays"))
                .singleElement()
                .satisfies(relay -> assertThat(relay).containsEntry("alive", true));

        publisher.failNone();
        assertThat(endpoint("act", "requeue", "orders", null, "fixed")).isEqualTo(Map.of("changed", 1));
        await().untilAsserted(() -> assertThat(app.stored()).isEmpty());
        publisher.failWhen(
                event -> event.type().equals("Bad"), new PermanentFailureException("REFUSED", "never", null));

        assertThat(endpoint("act", "pause", "orders", null, null)).isEqualTo(Map.of("changed", 1));
        append("orders", "Waits");
        await().untilAsserted(() ->
                assertThat(gauge("outbox.events.pending", "orders")).isEqualTo(1));
        assertThat(endpoint("act", "resume", "orders", null, null)).isEqualTo(Map.of("changed", 1));
        await().untilAsserted(() -> assertThat(app.stored()).isEmpty());
        assertThat(endpoint("act", "pause", null, null, null)).isEqualTo(Map.of("changed", 1));
        assertThat(endpoint("act", "resume", null, null, null)).isEqualTo(Map.of("changed", 1));
        assertThat(app.jdbc()
                        .queryForList(
                                "SELECT who || ' ' || action || ' ' || reason FROM outbox_audit ORDER BY id",
                                String.class))
                .containsExactly(
                        "actuator requeue fixed", "actuator pause no reason given", "actuator resume no reason given");
        assertThatThrownBy(() -> endpoint("act", "requeue", null, null, null)).isNotNull();
        assertThatThrownBy(() -> endpoint("act", "burn", null, null, null)).isNotNull();
    }

    @Test
    void streams_beyond_the_limit_share_a_tag() {
        append("orders", "Good");
        for (int i = 0; i < 5; i++) {
            append("many-" + i, "Good");
        }
        await().untilAsserted(() -> assertThat(meters.find("outbox.events.published").counters().stream()
                        .mapToDouble(each -> each.count())
                        .sum())
                .isEqualTo(6));
        assertThat(meters.find("outbox.events.published").counters()).hasSizeLessThanOrEqualTo(4);
        assertThat(count("outbox.events.published", "other")).isGreaterThanOrEqualTo(2);
    }

    private static String health() throws Exception {
        Object indicator = app.context().getBean("outboxHealthIndicator");
        Method method = indicator.getClass().getDeclaredMethod("health");
        method.setAccessible(true);
        return method.invoke(indicator).toString();
    }

    @Test
    void health_is_up_while_the_relay_runs_and_down_when_it_does_not() throws Exception {
        // A loop that stands still for a second, as on a busy machine, is stuck by the settings of this test.
        await().untilAsserted(() -> assertThat(health()).startsWith("UP").contains("relaysAlive=1"));
        RelayLifecycle relay = app.bean(RelayLifecycle.class);
        relay.stop();
        try {
            assertThat(health()).startsWith("DOWN").contains("not running");
        } finally {
            relay.start();
        }
        assertThat(publisher.isClosed()).as("a bean is closed with its context").isFalse();
    }

    @Test
    void health_is_down_when_the_relay_cannot_start_for_too_long() throws Exception {
        RelayLifecycle relay = app.bean(RelayLifecycle.class);
        relay.stop();
        app.jdbc().execute("ALTER TABLE outbox_relay RENAME TO outbox_away");
        try {
            relay.start();
            assertThat(health()).contains("relay=starting");
            await().untilAsserted(
                            () -> assertThat(health()).startsWith("DOWN").contains("has not been able to start for"));
        } finally {
            app.jdbc().execute("ALTER TABLE outbox_away RENAME TO outbox_relay");
        }
        await().untilAsserted(() -> assertThat(health()).startsWith("UP").doesNotContain("starting"));
    }

    @Test
    void health_is_down_while_more_are_dead_or_held_than_was_said() throws Exception {
        append("order-events", "Bad", "Bad");
        await().untilAsserted(() -> assertThat(dead()).isEqualTo(2));
        await().untilAsserted(() -> assertThat(health()).startsWith("UP"));
        append("order-events", "Bad");
        await().untilAsserted(() -> assertThat(dead()).isEqualTo(3));
        assertThat(health()).startsWith("DOWN").contains("Stream order-events has more than 2 dead events.");
        app.jdbc().execute("DELETE FROM outbox_event");
        app.transaction()
                .executeWithoutResult(tx -> List.of("a", "b")
                        .forEach(key -> outbox.append(
                                OutboxEvent.of("order-events", "Bad").key(key).build())));
        await().untilAsserted(() -> assertThat(dead()).isEqualTo(2));
        assertThat(health()).startsWith("DOWN").contains("Stream order-events has more than 1 held keys.");
    }

    private static int dead() {
        return app.jdbc()
                .queryForList("SELECT id FROM outbox_event WHERE status = 'DEAD'")
                .size();
    }

    @Test
    void health_is_down_while_the_relay_is_stuck() throws Exception {
        CompletableFuture<Void> goesOn = new CompletableFuture<>();
        publisher.failWhen(
                event -> {
                    if (event.type().equals("Blocks")) {
                        goesOn.join();
                    }
                    return event.type().equals("Bad");
                },
                new PermanentFailureException("REFUSED", "never", null));
        append("order-events", "Blocks");
        await().untilAsserted(
                        () -> assertThat(health()).startsWith("DOWN").containsPattern("has been stuck for \\d+ s\\."));
        goesOn.complete(null);
        await().untilAsserted(() -> assertThat(health()).startsWith("UP"));
    }

    @Test
    void health_is_down_while_events_wait_and_no_relay_serves_their_stream() throws Exception {
        app.jdbc().execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('elsewhere', 'others')");
        append("elsewhere", "Good");
        await().untilAsserted(() -> assertThat(health())
                .startsWith("DOWN")
                .containsPattern("Stream elsewhere has no relay, and its oldest event has waited for \\d+ s\\."));
    }
}
