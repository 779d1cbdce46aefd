// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.server.testkit.Browser;
import io.postrider.server.testkit.Scene;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every page in a real browser. */
class PagesTest {
    private static final Scene scene = Scene.empty();
    private static final DashboardServer server =
            Dashboard.on(scene.dataSource()).port(0).localRole(Role.ADMIN).start();
    private static Browser browser;

    @BeforeAll
    static void start() {
        browser = Browser.at(server.url());
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        server.close();
    }

    /** What each page shows of the scene, and what it says when there is nothing. */
    private static final Map<String, List<String>> PAGES = Map.of(
            "overview", List.of("23 dead letters wait for a person", "No relay is running"),
            "events", List.of("InvoiceIssued", "Nothing waits"),
            "events?in=history", List.of("PaymentCaptured", "No history yet"),
            "dead", List.of("RECORD_TOO_LARGE", "No dead letters"),
            "keys", List.of("order-7", "No key is held"),
            "relays", List.of("256 of 256 owned", "No relay is running"),
            "streams", List.of("archive is being moved", "No stream yet"),
            "inbox", List.of("search-index", "No consumer has an inbox here"),
            "problems", List.of("Stream invoices is paused by kim", "No relay is running"),
            "audit", List.of("kim · pause", "Nobody has changed anything"));

    @ParameterizedTest
    @CsvSource({"light, 1280", "dark, 1280", "light, 390", "dark, 390"})
    void everyPageShowsWhatThereIs(String theme, int width) {
        scene.clear();
        scene.filled();
        browser.size(width, 900);
        browser.open("overview", theme);
        String ground =
                String.valueOf(browser.script("return getComputedStyle(document.documentElement).backgroundColor"));
        assertThat(ground).isEqualTo(theme.equals("dark") ? "rgb(18, 23, 26)" : "rgb(246, 247, 246)");
        PAGES.forEach((page, says) -> {
            browser.go(page);
            browser.awaitText("main", says.get(0));
            looksRight(page);
        });
        browser.go("events/"
                + scene.column("SELECT event_id FROM outbox_event WHERE status = 'DEAD' LIMIT 1")
                        .get(0));
        browser.awaitText(".story", "It is dead: it waits for a person");
        browser.awaitText(".payload", "\"last4\": \"4242\"");
        looksRight("event");
        browser.size(1280, 900);
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void everyPageExplainsWhyItIsEmpty(String theme) {
        scene.clear();
        browser.open("overview", theme);
        PAGES.forEach((page, says) -> {
            browser.go(page);
            browser.awaitText("main", says.get(1));
            looksRight(page);
        });
        browser.go("events/00000000-0000-0000-0000-000000000000");
        browser.awaitText(".failure", "Its transaction never committed, or its history is no longer kept");
        browser.go("nowhere");
        browser.awaitText("main", "There is no such page");
    }

    private static void looksRight(String page) {
        assertThat(browser.complaints()).as(page).isEmpty();
        assertThat(browser.script("return document.documentElement.scrollWidth <= innerWidth"))
                .as("%s fits the width", page)
                .isEqualTo(true);
    }

    @Test
    void theOverviewIsLive() {
        scene.clear();
        scene.filled();
        browser.open("overview", "light");
        browser.awaitText(".condition", "23 dead letters");
        assertThat(browser.all(".chart canvas")).hasSize(4);
        scene.execute("DELETE FROM outbox_event; UPDATE outbox_stream SET paused_at = NULL");
        browser.awaitText(".condition", "All is well.");
    }

    @Test
    void aSearchIsInTheAddress() {
        scene.clear();
        scene.filled();
        browser.open("events", "light");
        browser.write("input[name=stream]", "invoices");
        browser.write("input[name=key]", "invoice-5");
        browser.press(".filter", "Search");
        await().atMost(Duration.ofSeconds(10))
                .until(() -> "#/events?stream=invoices&key=invoice-5".equals(browser.script("return location.hash")));
        await().atMost(Duration.ofSeconds(10))
                .until(() -> browser.all("tbody tr").size() == 1);
        assertThat(browser.text("main > .cli code")).isEqualTo("postrider events --stream invoices --key invoice-5");
        browser.open("events?stream=invoices&limit=20", "light");
        await().atMost(Duration.ofSeconds(10))
                .until(() -> browser.all("tbody tr").size() == 20);
        browser.find(".pager a").click();
        browser.awaitText("tbody", "invoice-40");
    }

    @Test
    void keysGoWhereTheySay() {
        scene.clear();
        scene.filled();
        browser.open("overview", "light");
        browser.type("gd");
        browser.awaitText("h1", "Dead letters");
        browser.type("gk");
        browser.awaitText("h1", "Held keys");
        browser.type("?");
        browser.awaitText("dialog", "this help");
        browser.press("dialog", "Close");
        await().until(() -> browser.all("dialog").isEmpty());
        String id = scene.column("SELECT event_id FROM outbox_event WHERE status = 'DEAD' LIMIT 1")
                .get(0);
        browser.type("/");
        browser.type(id + "\n");
        browser.awaitText(".id-line", id);
        browser.type("/");
        browser.type("order-7\n");
        browser.awaitText("tbody", "OrderShipped");
    }

    @Test
    void aServerThatIsGoneIsSaidToBeGone() {
        Scene own = Scene.empty().filled();
        CountedSource source = new CountedSource(own.dataSource(), new AtomicInteger());
        DashboardServer other = Dashboard.on(source).port(0).start();
        try (Browser second = Browser.at(other.url())) {
            second.open("overview", "light");
            second.awaitText(".condition", "23 dead letters");
            source.down = new SQLException("the database is gone");
            second.awaitText(".condition", "the database is gone");
            assertThat(second.all(".chart canvas")).as("what was seen stays").hasSize(4);
            source.down = null;
            second.awaitText(".condition", "23 dead letters");
            other.close();
            second.awaitText(".offline", "cannot be reached");
        } finally {
            other.close();
        }
    }

    @Test
    void whoIsNotKnownSignsIn() {
        String token = "a-token-of-vera-0123456789";
        try (DashboardServer guarded = Dashboard.on(scene.clear().filled().dataSource())
                        .port(0)
                        .authenticator(TokenAuthenticator.of(Map.of(token, new User("vera", Role.VIEWER))))
                        .start();
                Browser second = Browser.at(guarded.url())) {
            second.open("dead", "dark");
            second.awaitText("h1", "Sign in");
            second.write("input[name=secret]", "wrong");
            second.press(".sign-in", "Sign in");
            second.awaitText(".error", "Nobody is known by this");
            second.write("input[name=secret]", token);
            second.press(".sign-in", "Sign in");
            second.awaitText("main", "RECORD_TOO_LARGE");
            assertThat(second.text(".user")).isEqualTo("vera");
            assertThat(second.all(".group-actions button")).as("a viewer looks").isEmpty();
            second.go("events/"
                    + scene.column("SELECT event_id FROM outbox_event WHERE status = 'DEAD' LIMIT 1")
                            .get(0));
            second.awaitText("main", "Payloads are not shown to viewers");
            assertThat(second.all(".actions button")).isEmpty();
        }
    }
}
