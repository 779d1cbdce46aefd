// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.server.testkit.Browser;
import io.postrider.server.testkit.Scene;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every action, done in a real browser, in both themes. */
class ActionsTest {
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

    @BeforeEach
    void fill() {
        scene.clear();
        scene.filled();
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void aGroupIsRequeuedAfterItsCountWasStated(String theme) {
        browser.open("dead", theme);
        browser.press(".group", "Requeue");
        browser.awaitText("dialog h2", "Requeue 18 dead letters?");
        assertThat(browser.all("dialog button[type=submit]:disabled"))
                .as("without a reason")
                .hasSize(1);
        browser.find("dialog summary").click();
        browser.write("dialog textarea[name=reason]", "limit raised, see INC-12");
        browser.awaitText(
                "dialog .cli code",
                "postrider dead requeue --all --stream order-events --type OrderPlaced --error RECORD_TOO_LARGE --as you"
                        + " --reason 'limit raised, see INC-12'");
        browser.press("dialog", "Requeue 18");
        browser.awaitText(".toast", "18 dead letters requeued.");
        browser.awaitText(".group h2", "UNKNOWN_TOPIC");
        assertThat(scene.column("SELECT DISTINCT who || ': ' || reason FROM outbox_audit WHERE action = 'requeue'"))
                .containsExactly("local: limit raised, see INC-12");
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void aSelectionIsDiscarded(String theme) {
        browser.open("dead?stream=payments", theme);
        browser.awaitText("tbody", "payment-4");
        browser.all("tbody input[type=checkbox]").get(0).click();
        browser.all("tbody input[type=checkbox]").get(2).click();
        browser.awaitText(".selection", "2 events selected");
        browser.press(".selection", "Discard");
        browser.awaitText("dialog h2", "Discard 2 dead letters?");
        browser.write("dialog textarea[name=reason]", "nobody needs them");
        browser.press("dialog", "Discard 2");
        browser.awaitText(".toast", "2 dead letters discarded.");
        assertThat(scene.column("SELECT event_key FROM outbox_history WHERE outcome = 'DISCARDED' ORDER BY 1"))
                .containsExactly("payment-0", "payment-2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void oneIsRequeuedFromItsOwnPage(String theme) {
        String id = dead();
        browser.open("events/" + id, theme);
        browser.press(".actions", "Requeue");
        browser.awaitText("dialog h2", "Requeue 1 dead letter?");
        browser.write("dialog textarea[name=reason]", "fixed");
        browser.press("dialog", "Requeue 1");
        browser.awaitText(".story", "It waits for its turn");
        browser.awaitText("main", "fixed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void oneIsEditedAndWhatIsHiddenStays(String theme) {
        String id = dead();
        scene.execute(
                "UPDATE outbox_event SET payload = convert_to('{\"cents\": 1}', 'UTF8') WHERE event_id = '" + id + "'");
        browser.open("events/" + id, theme);
        browser.press(".actions", "Edit");
        browser.write("dialog textarea[name=payload]", "{\"cents\": 2}");
        browser.write("dialog textarea[name=headers]", "tenant: south\nsession-token: [hidden]");
        browser.write("dialog textarea[name=reason]", "typo");
        browser.press("dialog", "Save and requeue");
        browser.awaitText(".toast", "Edited and requeued.");
        assertThat(scene.column("SELECT convert_from(payload, 'UTF8') || (headers ->> 'tenant') || (headers ->>"
                        + " 'session-token') || status FROM outbox_event WHERE event_id = '" + id + "'"))
                .containsExactly("{\"cents\": 2}southabc123PENDING");
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void aHeldKeyIsUnheld(String theme) {
        browser.open("keys?stream=payments", theme);
        browser.press("tbody tr", "Unhold");
        browser.awaitText("dialog", "It is left dead, and later events of its key go on without it.");
        browser.write("dialog textarea[name=reason]", "consumers bear the gap");
        browser.press("dialog", "Unhold 1");
        browser.awaitText(".toast", "1 dead letter unheld.");
        assertThat(scene.column("SELECT 1 FROM outbox_event WHERE stream = 'payments' AND holds"))
                .hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void aStreamIsResumedAndPaused(String theme) {
        browser.open("streams", theme);
        browser.press("tbody tr", "Resume");
        browser.awaitText("dialog h2", "Resume invoices?");
        browser.write("dialog textarea[name=reason]", "archive is back");
        browser.press("dialog", "Resume");
        browser.awaitText(".toast", "Stream invoices resumed.");
        browser.press("tbody tr", "Pause");
        browser.write("dialog textarea[name=reason]", "once more");
        browser.press("dialog", "Pause");
        browser.awaitText("tbody", "once more");
        assertThat(scene.column("SELECT action FROM outbox_audit WHERE stream = 'invoices' ORDER BY id"))
                .isEqualTo(List.of("pause", "resume", "pause"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void whoComesTooLateIsTold(String theme) {
        String id = dead();
        browser.open("events/" + id, theme);
        browser.press(".actions", "Edit");
        scene.execute("UPDATE outbox_event SET revision = revision + 1 WHERE event_id = '" + id + "'");
        browser.write("dialog textarea[name=headers]", "tenant: south");
        browser.write("dialog textarea[name=reason]", "typo");
        browser.press("dialog", "Save and requeue");
        browser.awaitText("dialog .error", "was changed by somebody else since you looked");
    }

    private static String dead() {
        return scene.dead("payments", "payment-77", "PaymentCaptured", "BAD", "no");
    }
}
