// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.postrider.Outbox;
import io.postrider.OutboxEvent;
import io.postrider.server.Authenticator;
import io.postrider.server.Request;
import io.postrider.server.Role;
import io.postrider.server.User;
import io.postrider.spring.autoconfigure.DashboardMount;
import io.postrider.testkit.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Over HTTP, in the embedded Tomcat of an application that has more servlets than this one. */
class DashboardInApplicationTest {
    private static final PostgresServer.Database DATABASE = TestApplication.database();
    private static final String PASSWORD = "correct horse battery";
    private static final String TOKEN = "0123456789abcdef-token";

    private static TestApplication app;
    private static WebClient nobody;

    /** Spring Security is there and leaves everything to the dashboard. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        SecurityFilterChain open(HttpSecurity http) throws Exception {
            return http.csrf(csrf -> csrf.disable())
                    .headers(headers -> headers.disable())
                    .authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .build();
        }
    }

    /** A filter chain that lets everybody through, by mistake or for other pages. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class CarelessApp extends App {
        @Bean
        Authenticator dashboardUsers() {
            return new SignedIn();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SecuredApp {
        @Bean
        SecurityFilterChain secured(HttpSecurity http) throws Exception {
            return http.httpBasic(Customizer.withDefaults())
                    .authorizeHttpRequests(all -> all.requestMatchers("/postrider/**")
                            .hasRole("SUPPORT")
                            .anyRequest()
                            .denyAll())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/postrider/api/**"))
                    .build();
        }

        @Bean
        UserDetailsService people() {
            return new InMemoryUserDetailsManager(
                    org.springframework.security.core.userdetails.User.withUsername("kim")
                            .password("{noop}" + PASSWORD)
                            .roles("SUPPORT")
                            .build(),
                    org.springframework.security.core.userdetails.User.withUsername("eve")
                            .password("{noop}" + PASSWORD)
                            .roles("SALES")
                            .build());
        }

        @Bean
        Authenticator dashboardUsers() {
            return new SignedIn();
        }
    }

    /** Whoever the application's own Spring Security has let through. */
    static final class SignedIn implements Authenticator {
        @Override
        public Optional<User> authenticate(Request request) {
            Authentication who = SecurityContextHolder.getContext().getAuthentication();
            if (who == null || !who.isAuthenticated() || who instanceof AnonymousAuthenticationToken) {
                return Optional.empty();
            }
            Set<String> roles = AuthorityUtils.authorityListToSet(who.getAuthorities());
            Role role = roles.contains("ROLE_LEAD") ? Role.ADMIN : Role.OPERATOR;
            return roles.contains("ROLE_SUPPORT") ? Optional.of(new User(who.getName(), role)) : Optional.empty();
        }

        @Override
        public String scheme() {
            return "Basic";
        }
    }

    @BeforeAll
    static void start() {
        app = TestApplication.runWeb(
                DATABASE,
                App.class,
                "server.servlet.context-path=/shop",
                "server.tomcat.threads.max=2",
                "server.tomcat.threads.min-spare=2",
                "spring.lifecycle.timeout-per-shutdown-phase=90s",
                "spring.main.lazy-initialization=true",
                "postrider.dashboard.path=/ops/outbox",
                "postrider.dashboard.users.kim.password=" + PASSWORD,
                "postrider.dashboard.users.kim.role=admin",
                "postrider.dashboard.users.script.token=" + TOKEN,
                "postrider.dashboard.hide=iban");
        nobody = WebClient.of(app, "/shop/ops/outbox");
        app.jdbc()
                .execute("INSERT INTO outbox_stream (stream, relay_group) VALUES ('orders', 'default'), ('secured',"
                        + " 'default')");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    private static String basic(String name) {
        return "Basic " + Base64.getEncoder().encodeToString((name + ":" + PASSWORD).getBytes(StandardCharsets.UTF_8));
    }

    private static WebClient kim() {
        return nobody.with("Authorization", basic("kim"), "X-Postrider", "1");
    }

    private static WebClient viewer() {
        return nobody.with("Authorization", "Bearer " + TOKEN, "X-Postrider", "1");
    }

    @Test
    void its_pages_are_found_below_the_path_of_the_application() throws Exception {
        HttpResponse<String> bare = nobody.get("");
        assertThat(bare.statusCode()).isEqualTo(302);
        assertThat(bare.headers().firstValue("location")).contains("outbox/");
        HttpResponse<String> page = nobody.get("/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("<title>Postrider</title>").contains("src=\"./app.js\"");
        assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
                .startsWith("default-src 'none'; script-src 'self' 'sha256-");
        HttpResponse<String> module = nobody.get("/vendor/preact.mjs");
        assertThat(module.headers().firstValue("content-type").orElseThrow())
                .isEqualToIgnoringCase("text/javascript;charset=utf-8");
        String tag = module.headers().firstValue("etag").orElseThrow();
        assertThat(nobody.with("If-None-Match", tag).get("/vendor/preact.mjs").statusCode())
                .isEqualTo(304);
        assertThat(nobody.get("/nothing.js").statusCode()).isEqualTo(404);
        assertThat(nobody.get("/..%2f..%2fapplication.properties").statusCode()).isGreaterThanOrEqualTo(400);
    }

    @Test
    void the_api_asks_who_it_is_and_each_may_do_what_the_role_says() throws Exception {
        HttpResponse<String> unknown = nobody.get("/api/overview");
        assertThat(unknown.statusCode()).isEqualTo(401);
        assertThat(unknown.headers().firstValue("x-postrider-scheme")).contains("Basic");
        assertThat(kim().get("/api/me").body()).contains("\"kim\"").contains("ADMIN");
        assertThat(viewer().get("/api/me").body()).contains("\"script\"").contains("VIEWER");
        String pause = "{\"stream\": \"orders\", \"reason\": \"test\"}";
        assertThat(viewer().post("/api/streams/pause", pause).statusCode()).isEqualTo(403);
        assertThat(kim().post("/api/streams/pause", pause).statusCode()).isEqualTo(200);
        assertThat(app.jdbc()
                        .queryForObject("SELECT who FROM outbox_audit WHERE stream = 'orders' LIMIT 1", String.class))
                .contains("kim");
        assertThat(kim().post("/api/streams/resume", pause).statusCode()).isEqualTo(200);
    }

    @Test
    void a_page_of_another_site_changes_nothing() throws Exception {
        String pause = "{\"stream\": \"other\", \"reason\": \"test\"}";
        WebClient unmarked = nobody.with("Authorization", basic("kim"));
        assertThat(unmarked.post("/api/streams/pause", pause).statusCode()).isEqualTo(403);
        WebClient foreign =
                nobody.with("Authorization", basic("kim"), "X-Postrider", "1", "Origin", "https://evil.example");
        assertThat(foreign.post("/api/streams/pause", pause).statusCode()).isEqualTo(403);
        assertThat(app.jdbc()
                        .queryForObject("SELECT count(*) FROM outbox_stream WHERE stream = 'other'", Integer.class))
                .isZero();
    }

    @Test
    void words_that_the_settings_hide_are_hidden() throws Exception {
        OutboxEvent event = OutboxEvent.of("orders", "Paid")
                .json("{\"iban\": \"DE75\", \"sum\": 7}")
                .build();
        app.transaction().executeWithoutResult(tx -> app.bean(Outbox.class).append(event));
        assertThat(kim().get("/api/events/" + event.id()).body())
                .contains("sum")
                .doesNotContain("DE75");
    }

    @Test
    void those_who_watch_have_no_thread_of_the_web_server_and_are_let_go_when_the_application_stops() throws Exception {
        TestApplication other = TestApplication.runWeb(
                DATABASE,
                App.class,
                "server.tomcat.threads.max=2",
                "server.tomcat.threads.min-spare=2",
                "spring.lifecycle.timeout-per-shutdown-phase=90s",
                "postrider.dashboard.users.kim.password=" + PASSWORD);
        WebClient client = WebClient.of(other, "/postrider", "Authorization", basic("kim"));
        List<BufferedReader> watching = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            BufferedReader live = client.live();
            assertThat(dataOf(live)).contains("\"backlog\"");
            watching.add(live);
        }
        assertThat(client.get("/api/overview").statusCode()).isEqualTo(200);
        assertTimeoutPreemptively(Duration.ofSeconds(60), other::close, "the web server waits for those who watch");
        for (BufferedReader live : watching) {
            String line;
            do {
                line = live.readLine();
            } while (line != null);
        }
    }

    private static String dataOf(BufferedReader live) throws IOException {
        String line;
        do {
            line = live.readLine();
        } while (line != null && !line.startsWith("data: "));
        return String.valueOf(line);
    }

    @Test
    void a_context_that_is_stopped_and_started_has_its_dashboard_again() throws Exception {
        DashboardMount mount = app.bean(DashboardMount.class);
        mount.stop();
        assertThat(nobody.get("/").statusCode()).isEqualTo(503);
        mount.start();
        try (BufferedReader live = kim().live()) {
            assertThat(dataOf(live)).contains("\"backlog\"");
        }
    }

    @Test
    void without_anybody_who_could_sign_in_or_when_it_is_not_wanted_it_is_not_there() throws Exception {
        for (String setting : List.of("postrider.dashboard.path=/postrider", "postrider.dashboard.enabled=false")) {
            try (TestApplication none = TestApplication.runWeb(DATABASE, App.class, setting)) {
                WebClient client = WebClient.of(none, "/postrider");
                assertThat(client.get("/").statusCode()).isEqualTo(404);
                assertThat(client.get("/api/overview").statusCode()).isEqualTo(404);
            }
        }
    }

    @Test
    void on_a_machine_of_a_developer_nobody_else_gets_in() throws Exception {
        try (TestApplication local = TestApplication.runWeb(DATABASE, App.class, "postrider.dashboard.local=true")) {
            WebClient client = WebClient.of(local, "/postrider");
            assertThat(client.get("/api/me").body()).contains("\"local\"").contains("OPERATOR");
            for (String header : List.of("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")) {
                assertThat(client.with(header, "127.0.0.1").get("/").statusCode())
                        .as(header)
                        .isEqualTo(403);
            }
            assertThat(client.statusFor("localhost:" + local.port(), "/api/me")).contains(" 200");
            assertThat(client.statusFor("rebound.example:" + local.port(), "/api/me"))
                    .contains(" 403");
        }
    }

    @Test
    void whoever_has_not_signed_in_to_the_application_is_nobody() throws Exception {
        try (TestApplication careless = TestApplication.runWeb(DATABASE, CarelessApp.class)) {
            assertThat(WebClient.of(careless, "/postrider").get("/api/me").statusCode())
                    .isEqualTo(401);
        }
    }

    @Test
    void who_asks_for_headers_alone_watches_nothing() throws Exception {
        // One more than may watch.
        for (int i = 0; i < 65; i++) {
            assertThat(kim().head("/api/live").statusCode()).isEqualTo(200);
        }
        try (BufferedReader live = kim().live()) {
            assertThat(dataOf(live)).contains("\"backlog\"");
        }
    }

    @Test
    void an_application_that_knows_its_users_says_who_they_are() throws Exception {
        try (TestApplication secured = TestApplication.runWeb(DATABASE, SecuredApp.class)) {
            WebClient client = WebClient.of(secured, "/postrider");
            assertThat(client.get("/").statusCode()).isEqualTo(401);
            assertThat(client.with("Authorization", basic("eve")).get("/").statusCode())
                    .isEqualTo(403);
            WebClient kim = client.with("Authorization", basic("kim"), "X-Postrider", "1");
            assertThat(kim.get("/api/me").body()).contains("\"kim\"").contains("OPERATOR");
            String pause = "{\"stream\": \"secured\", \"reason\": \"test\"}";
            assertThat(kim.post("/api/streams/pause", pause).statusCode()).isEqualTo(200);
            try (BufferedReader live = kim.live()) {
                assertThat(dataOf(live)).contains("\"backlog\"");
            }
        }
    }
}
