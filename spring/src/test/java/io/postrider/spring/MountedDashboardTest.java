// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.postrider.server.Authenticator;
import io.postrider.server.testkit.Browser;
import io.postrider.server.testkit.Scene;
import io.postrider.testkit.PostgresServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The dashboard as a part of applications that have a path of their own and Spring Security, in a real browser. */
class MountedDashboardTest {
    private static final PostgresServer.Database DATABASE = TestApplication.database();
    private static final Scene SCENE = Scene.on(DATABASE.dataSource());
    private static final String PASSWORD = "correct-horse-battery";
    private static final String MOUNT = "/app/ops/outbox/";

    private static TestApplication asking;
    private static TestApplication knowing;
    private static Browser browser;

    /** The dashboard asks who it is; Spring Security protects what else the application has. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class AskingApp {
        @Bean
        SecurityFilterChain open(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.requestMatchers("/ops/outbox/**", "/ops/outbox")
                            .permitAll()
                            .anyRequest()
                            .denyAll())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/ops/outbox/api/**"))
                    .build();
        }
    }

    /** The application has a page to sign in on, and knows people by their sessions. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class KnowingApp {
        @Bean
        SecurityFilterChain secured(HttpSecurity http) throws Exception {
            return http.formLogin(Customizer.withDefaults())
                    .authorizeHttpRequests(all -> all.anyRequest().hasRole("SUPPORT"))
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/ops/outbox/api/**"))
                    .build();
        }

        @Bean
        UserDetailsService people() {
            return new InMemoryUserDetailsManager(User.withUsername("kim")
                    .password("{noop}" + PASSWORD)
                    .roles("SUPPORT")
                    .build());
        }

        @Bean
        Authenticator dashboardUsers() {
            return new DashboardInApplicationTest.SignedIn();
        }
    }

    @BeforeAll
    static void start() {
        asking = TestApplication.runWeb(
                DATABASE,
                AskingApp.class,
                "server.servlet.context-path=/app",
                "postrider.dashboard.path=/ops/outbox",
                "postrider.dashboard.users.kim.password=" + PASSWORD,
                "postrider.dashboard.users.kim.role=admin");
        knowing = TestApplication.runWeb(
                DATABASE, KnowingApp.class, "server.servlet.context-path=/app", "postrider.dashboard.path=/ops/outbox");
        browser = Browser.at(url(asking));
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        knowing.close();
        asking.close();
    }

    @BeforeEach
    void fill() {
        SCENE.clear();
        SCENE.filled();
    }

    private static String url(TestApplication app) {
        return "http://localhost:" + app.port() + MOUNT;
    }

    /** Signs in as if for the first time. */
    private static String signedIn(boolean known) {
        String url = url(known ? knowing : asking);
        browser.visit(url);
        browser.forget();
        browser.visit(url);
        if (known) {
            signInToTheApplication();
        } else {
            browser.awaitText("h1", "Sign in");
            browser.write("input[name=name]", "kim");
            browser.write("input[name=secret]", PASSWORD);
            browser.press(".sign-in", "Sign in");
        }
        browser.awaitText(".user", "kim");
        browser.complaints();
        return url;
    }

    private static void signInToTheApplication() {
        browser.write("input[name=username]", "kim");
        browser.write("input[name=password]", PASSWORD);
        browser.find("button[type=submit]").click();
    }

    private static final Map<String, String> PAGES = Map.of(
            "overview", "23 dead letters wait for a person",
            "events", "InvoiceIssued",
            "events?in=history", "PaymentCaptured",
            "dead", "RECORD_TOO_LARGE",
            "keys", "order-7",
            "relays", "256 of 256 owned",
            "streams", "archive is being moved",
            "inbox", "search-index",
            "problems", "Stream invoices is paused by kim",
            "audit", "kim · pause");

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void every_page_is_there_with_all_that_it_needs(boolean known) {
        String url = signedIn(known);
        // As it was typed, without the slash.
        browser.visit(url.substring(0, url.length() - 1));
        PAGES.forEach((page, says) -> {
            browser.go(page);
            browser.awaitText("main", says);
            assertThat(browser.complaints()).as(page).isEmpty();
        });
        browser.go("events/" + aDeadOne());
        browser.awaitText(".story", "It is dead: it waits for a person");
        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.script("return location.origin + location.pathname")).isEqualTo(url);
        assertThat(browser.answers())
                .as("all of it from below where it is mounted")
                .anyMatch(each -> each.startsWith("200 " + url + "vendor/preact.mjs"))
                .anyMatch(each -> each.startsWith("200 " + url + "vendor/uplot.css"))
                .anyMatch(each -> each.startsWith("200 " + url + "api/audit"))
                .allMatch(each -> each.startsWith("200 " + url));
    }

    @Test
    void a_link_to_an_event_can_be_sent_to_somebody() {
        String url = signedIn(false);
        browser.go("dead?stream=payments");
        String link = String.valueOf(browser.find("tbody a.id").getDomProperty("href"));
        assertThat(link).startsWith(url + "#/events/");
        browser.visit("about:blank");
        browser.visit(link);
        browser.awaitText(".id-line", link.substring(link.lastIndexOf('/') + 1));
        browser.find("a.brand").click();
        browser.awaitText(".condition", "23 dead letters");
        assertThat(browser.script("return location.href")).isEqualTo(url + "#/overview");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void the_overview_is_live(boolean known) {
        signedIn(known);
        browser.go("overview");
        browser.awaitText(".condition", "23 dead letters");
        long asked = requestsForTheOverview();
        SCENE.execute("DELETE FROM outbox_event; UPDATE outbox_stream SET paused_at = NULL");
        browser.awaitText(".condition", "All is well.");
        assertThat(requestsForTheOverview()).as("it was told without asking").isEqualTo(asked);
        assertThat(browser.complaints()).isEmpty();
    }

    private static long requestsForTheOverview() {
        return browser.answers().stream()
                .filter(each -> each.endsWith("/api/overview"))
                .count();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_dead_letter_is_requeued(boolean known) {
        String id = aDeadOne();
        signedIn(known);
        browser.go("events/" + id);
        browser.press(".actions", "Requeue");
        browser.awaitText("dialog h2", "Requeue 1 dead letter?");
        browser.write("dialog textarea[name=reason]", "topic made");
        browser.press("dialog", "Requeue 1");
        browser.awaitText(".story", "It waits for its turn");
        assertThat(SCENE.column("SELECT who || ': ' || reason FROM outbox_audit WHERE event_id = '" + id + "'"))
                .containsExactly("kim: topic made");
        assertThat(browser.complaints()).isEmpty();
    }

    /** To a browser all ports of a machine are one site: it sends the cookie of the session along. */
    @Test
    void a_page_of_another_server_does_nothing_in_the_name_of_who_is_signed_in() throws Exception {
        String url = signedIn(true);
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        other.start();
        try {
            browser.visit("http://localhost:" + other.getAddress().getPort() + "/");
            browser.script(
                    "fetch(arguments[0], {method: 'POST', mode: 'no-cors', credentials: 'include', body: arguments[1]})"
                            + ".finally(() => { document.title = 'answered'; })",
                    url + "api/streams/pause",
                    "{\"stream\": \"payments\", \"reason\": \"evil\"}");
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> "answered".equals(browser.script("return document.title")));
        } finally {
            other.stop(0);
        }
        assertThat(SCENE.column("SELECT who FROM outbox_audit WHERE stream = 'payments'"))
                .isEmpty();
    }

    @Test
    void whose_session_has_ended_signs_in_to_the_application_again() {
        String url = signedIn(true);
        browser.go("streams");
        browser.awaitText("main", "archive is being moved");
        endTheSession();
        browser.awaitText(".sign-in", "Your session with the application has ended");
        browser.press(".sign-in", "Sign in");
        signInToTheApplication();
        browser.awaitText(".condition", "23 dead letters");
        assertThat(String.valueOf(browser.script("return location.href"))).startsWith(url);
        assertThat(browser.answers()).allMatch(each -> each.startsWith("200 "));
    }

    @Test
    void who_signs_in_elsewhere_is_not_brought_to_what_the_dashboard_asked_for() {
        signedIn(true);
        endTheSession();
        browser.visit("http://localhost:" + knowing.port() + "/app/login");
        signInToTheApplication();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> !"/app/login".equals(browser.script("return location.pathname")));
        assertThat(browser.script("return location.pathname")).isEqualTo("/app/");
    }

    private static void endTheSession() {
        browser.forget();
        browser.go("dead");
        browser.awaitText("h1", "Sign in");
    }

    private static String aDeadOne() {
        List<String> ids =
                SCENE.column("SELECT event_id FROM outbox_event WHERE status = 'DEAD' AND stream = 'payments'"
                        + " ORDER BY id LIMIT 1");
        return ids.get(0);
    }
}
