// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.postrider.handler.Context;
import io.postrider.ops.Alert;
import io.postrider.ops.AlertChannel;
import io.postrider.relay.Publisher;
import io.postrider.spring.autoconfigure.HousekeepingLifecycle;
import io.postrider.testkit.PostgresServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What is done now and then: people are told, and what is old goes. */
class HousekeepingInApplicationTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String DEAD = "INSERT INTO outbox_event (stream, event_type, event_key, status, holds,"
            + " attempt_count, last_attempt_at, last_error_code, last_error_message) VALUES ('orders', 'Placed', 'k',"
            + " 'DEAD', true, 5, now(), 'X', 'x')";
    private static final String OLD =
            "INSERT INTO outbox_history_overflow (id, event_id, stream, event_type, payload_kept, headers,"
                    + " occurred_at, attempt_count, created_at, outcome, settled_at, settled_by) VALUES (1, gen_random_uuid(),"
                    + " 'orders', 'Placed', true, '{}', now(), 0, now(), 'PUBLISHED', now() - interval '%d days', 'r')";

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    /** Tells the tests. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OwnChannel {
        static final List<String> TOLD = new CopyOnWriteArrayList<>();

        @Bean
        AlertChannel pager() {
            return new AlertChannel() {
                @Override
                public String name() {
                    return "pager";
                }

                @Override
                public void tell(Alert alert) {
                    TOLD.add(alert.kind().code());
                }
            };
        }

        @Bean
        Publisher nowhere() {
            return event -> CompletableFuture.completedFuture(null);
        }
    }

    static final class Handling {
        @HandlesEvent(stream = "mails", type = "MailDue")
        void mail(String body, Context context) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Worker {
        @Bean
        Handling handling() {
            return new Handling();
        }
    }

    private static PostgresServer.Database migrated(String... statements) {
        PostgresServer.Database database = TestApplication.database();
        try (TestApplication once = TestApplication.runOn(
                database, App.class, TestApplication.WITHOUT_JPA, TestApplication.WITHOUT_RELAY)) {
            assertThat(once.bean(HousekeepingLifecycle.class).isRunning())
                    .as("nobody looks where nobody is told")
                    .isFalse();
            for (String each : statements) {
                once.jdbc().execute(each);
            }
        }
        return database;
    }

    @Test
    void people_are_told_by_webhook_by_log_and_by_a_bean_without_any_relay() throws Exception {
        PostgresServer.Database database = migrated(DEAD);
        OwnChannel.TOLD.clear();
        List<String> posted = new CopyOnWriteArrayList<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/hook", exchange -> {
            String signature = exchange.getRequestHeaders().getFirst("Postrider-Signature");
            posted.add(signature + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
        try (TestApplication app = TestApplication.runOn(
                database,
                OwnChannel.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "spring.main.lazy-initialization=true",
                "postrider.alerts.log=true",
                "postrider.alerts.ignore=no-relay",
                "postrider.alerts.webhook.url=http://127.0.0.1:"
                        + receiver.getAddress().getPort() + "/hook",
                "postrider.alerts.webhook.secret=0123456789abcdef",
                "postrider.alerts.webhook.allow-http=true",
                "postrider.alerts.webhook.allow-private-addresses=true")) {
            await().atMost(SOON).untilAsserted(() -> {
                assertThat(posted).hasSize(1);
                assertThat(OwnChannel.TOLD).containsExactly("dead-letters");
                assertThat(app.jdbc()
                                .queryForList("SELECT DISTINCT channel FROM outbox_alert ORDER BY 1", String.class))
                        .containsExactly("log", "pager", "webhook");
            });
            assertThat(posted.get(0)).startsWith("v1=").contains("\"dead-letters\"");
            HousekeepingLifecycle looks = app.bean(HousekeepingLifecycle.class);
            looks.stop();
            assertThat(looks.isRunning()).isFalse();
            looks.start();
            assertThat(looks.isRunning()).isTrue();
        } finally {
            receiver.stop(0);
        }
    }

    @Test
    void thresholds_are_those_of_the_settings() {
        PostgresServer.Database database = migrated(
                "INSERT INTO outbox_event (stream, event_type) VALUES ('orders', 'A'), ('orders', 'B'), ('orders', 'C')");
        OwnChannel.TOLD.clear();
        try (TestApplication app = TestApplication.runOn(
                database,
                OwnChannel.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.alerts.pending=2")) {
            assertThat(app.bean(HousekeepingLifecycle.class).isRunning()).isTrue();
            await().atMost(SOON).until(() -> OwnChannel.TOLD.contains("pending"));
        }
    }

    @Test
    void the_relay_archives_what_is_old_if_that_is_wanted_and_what_consumers_processed_is_forgotten() {
        PostgresServer.Database database = migrated(
                OLD.formatted(8),
                "INSERT INTO inbox_message (consumer, event_id, processed_at) VALUES ('billing', gen_random_uuid(),"
                        + " now() - interval '4 days')");
        try (TestApplication app = TestApplication.runOn(
                database,
                OwnChannel.class,
                TestApplication.WITHOUT_JPA,
                "postrider.housekeeping.old-history=archive",
                "postrider.relay.keep-history=2d",
                "postrider.housekeeping.keep-inbox=3d",
                "postrider.housekeeping.daily-at=03:30",
                "postrider.housekeeping.zone=Europe/Paris")) {
            await().atMost(SOON).untilAsserted(() -> {
                assertThat(count(app, "outbox_archive")).isEqualTo(1);
                assertThat(count(app, "inbox_message")).isZero();
            });
        }
    }

    @Test
    void workers_keep_what_the_settings_keep() {
        PostgresServer.Database database = migrated(OLD.formatted(20), OLD.formatted(35));
        try (TestApplication app = TestApplication.runOn(
                database,
                Worker.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.relay.keep-history=30d",
                "postrider.housekeeping.old-history=delete",
                "postrider.workers.mails.streams=mails",
                "postrider.workers.mails.mode=competing")) {
            await().atMost(SOON)
                    .until(() ->
                            count(app, "outbox_history_overflow WHERE settled_at < now() - interval '30 days'") == 0);
            assertThat(count(app, "outbox_history_overflow")).isEqualTo(1);
        }
    }

    @Test
    void where_nothing_is_pruned_partitions_are_made_still() {
        PostgresServer.Database database = migrated(OLD.formatted(35));
        try (TestApplication app = TestApplication.runOn(
                database,
                Worker.class,
                TestApplication.WITHOUT_JPA,
                TestApplication.WITHOUT_RELAY,
                "postrider.housekeeping.enabled=false",
                "postrider.workers.mails.streams=mails",
                "postrider.workers.mails.mode=competing")) {
            await().atMost(SOON)
                    .until(() -> count(app, "outbox_duty WHERE duty = 'partitions' AND due_at > now()") == 1);
            assertThat(count(app, "outbox_duty")).isEqualTo(1);
            assertThat(count(app, "outbox_history_overflow")).isEqualTo(1);
        }
    }

    @Test
    void what_was_delivered_today_is_kept_by_workers_too() {
        PostgresServer.Database database = migrated();
        assertThatThrownBy(() -> TestApplication.runOn(
                                database,
                                Worker.class,
                                TestApplication.WITHOUT_JPA,
                                TestApplication.WITHOUT_RELAY,
                                "postrider.relay.keep-history=-1d",
                                "postrider.workers.mails.streams=mails",
                                "postrider.workers.mails.mode=competing")
                        .close())
                .hasStackTraceContaining("To keep the history for PT-24H is too short: a day at least.");
    }

    private static int count(TestApplication app, String what) {
        return Objects.requireNonNull(app.jdbc().queryForObject("SELECT count(*) FROM " + what, Integer.class));
    }

    @Test
    void settings_that_contradict_each_other_fail_at_start() {
        PostgresServer.Database database = TestApplication.database();
        fails(
                database,
                "there is a webhook.url and no webhook.secret",
                "postrider.alerts.webhook.url=https://x.example");
        fails(database, "slack.channel is #ops, and there is no slack.url.", "postrider.alerts.slack.channel=#ops");
        fails(
                database,
                "The webhook at http://hooks.example/… is not https.",
                "postrider.alerts.slack.url=http://hooks.example/secret");
        fails(
                database,
                "remindEvery must not be shorter than newsEvery",
                "postrider.alerts.log=true",
                "postrider.alerts.remind-every=1m");
        fails(
                database,
                "postrider.housekeeping.keep-inbox is PT48H, and postrider.housekeeping.enabled is false",
                "postrider.housekeeping.enabled=false",
                "postrider.housekeeping.keep-inbox=2d");
        fails(database, "a day is the least", "postrider.housekeeping.keep-inbox=1h");
        fails(
                database,
                "keep-inbox is PT168H, and what was delivered can be replayed for up to PT192H",
                "postrider.housekeeping.keep-inbox=7d");
        fails(
                database,
                "keep-inbox is PT192H, and a failed event is tried again for up to PT238H48M",
                "postrider.housekeeping.keep-inbox=8d",
                "postrider.relay.retry.first=1h",
                "postrider.relay.retry.max=1h",
                "postrider.relay.retry.attempts=200");
    }

    private static void fails(PostgresServer.Database database, String why, String... settings) {
        String[] all = new String[settings.length + 2];
        all[0] = TestApplication.WITHOUT_JPA;
        all[1] = TestApplication.WITHOUT_RELAY;
        System.arraycopy(settings, 0, all, 2, settings.length);
        assertThatThrownBy(() -> TestApplication.runOn(database, App.class, all).close())
                .hasStackTraceContaining(why);
    }
}
