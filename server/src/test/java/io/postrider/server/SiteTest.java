// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.server.testkit.Scene;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Several dashboards behind one port, and what all of them share. */
class SiteTest {
    private static final Scene scene = Scene.empty();

    @Test
    void passwordsCannotBeTriedOut() throws Exception {
        try (DashboardServer asked = Dashboard.on(scene.dataSource())
                .port(0)
                .authenticator(TokenAuthenticator.of(Map.of("a-token-0123456789", new User("kim", Role.VIEWER))))
                .start()) {
            Caller guessing = new Caller(asked, Map.of("Authorization", "Bearer wrong"));
            HttpClient client = HttpClient.newHttpClient();
            for (int i = 0; i < Attempts.MOST; i++) {
                assertThat(client.send(guessing.request("api/me").build(), HttpResponse.BodyHandlers.discarding())
                                .statusCode())
                        .isEqualTo(401);
            }
            HttpResponse<String> refused =
                    client.send(guessing.request("api/me").build(), HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValueAsLong("retry-after").orElseThrow())
                    .isBetween(1L, 60L);
        }
    }

    @Test
    void aSiteHasDashboardsBelowNamesAndPagesOfItsOwn() throws Exception {
        try (DashboardServer site = Site.empty()
                .port(0)
                .authenticator(TokenAuthenticator.of(Map.of("a-token-0123456789", new User("kim", Role.VIEWER))))
                .dashboard("one", Dashboard.on(scene.dataSource()))
                .dashboard("two", Dashboard.on(scene.dataSource()))
                .openPage("/open", request -> new Response(200, Map.of(), new byte[] {'o'}))
                .page("/closed", request -> new Response(200, Map.of(), new byte[] {'c'}))
                .start()) {
            Caller nobody = new Caller(site, Map.of());
            Caller kim = new Caller(site, Map.of("Authorization", "Bearer a-token-0123456789"));
            assertThat(answer(nobody, "open").body()).isEqualTo("o");
            assertThat(answer(nobody, "closed").statusCode()).isEqualTo(401);
            assertThat(answer(kim, "closed").body()).isEqualTo("c");
            assertThat(answer(nobody, "").body()).contains("./one/", "./two/");
            assertThat(answer(nobody, "one").headers().firstValue("location")).contains("./one/");
            assertThat(answer(nobody, "one/app.js").statusCode()).isEqualTo(200);
            assertThat(answer(nobody, "two/api/me").statusCode()).isEqualTo(401);
            assertThat(answer(kim, "two/api/me").body()).contains("kim");
            assertThat(answer(kim, "three/api/me").statusCode()).isEqualTo(404);
            assertThat(answer(kim, "api/me").statusCode()).isEqualTo(404);
        }
        assertThatThrownBy(() -> Site.empty().dashboard("../x", Dashboard.on(scene.dataSource())))
                .hasMessageContaining("A dashboard cannot be at /../x/");
        assertThatThrownBy(() -> Site.empty().address("0.0.0.0").start())
                .hasMessageContaining("without an authenticator");
    }

    @Test
    void whoSignsInToAPageMayCallTheServerAsTheyLike() {
        try (DashboardServer site = Site.empty()
                .port(0)
                .hosts("outbox.example.com:443")
                .authenticator(TokenAuthenticator.of(Map.of("a-token-0123456789", new User("kim", Role.VIEWER))))
                .dashboard("one", Dashboard.on(scene.dataSource()))
                .page("/metrics", request -> new Response(200, Map.of(), new byte[] {'m'}))
                .start()) {
            Map<String, String> prometheus =
                    Map.of("host", "postrider:80", "authorization", "Bearer a-token-0123456789");
            assertThat(status(site, "GET", "/metrics", prometheus)).isEqualTo(200);
            assertThat(status(site, "GET", "/metrics", Map.of("host", "postrider:80")))
                    .isEqualTo(401);
            assertThat(status(site, "POST", "/metrics", prometheus)).isEqualTo(404);
            assertThat(status(site, "GET", "/one/api/me", prometheus)).isEqualTo(403);
        }
        try (DashboardServer open = Site.empty()
                .port(0)
                .page("/metrics", request -> new Response(200, Map.of(), new byte[] {'m'}))
                .start()) {
            assertThat(status(open, "GET", "/metrics", Map.of("host", "evil.example")))
                    .as("nobody is asked who they are")
                    .isEqualTo(403);
        }
    }

    @Test
    void thoseWhoWatchLeaveThreadsToOthersHoweverManyDashboardsThereAre() {
        try (DashboardServer site = Site.empty()
                .port(0)
                .authenticator(TokenAuthenticator.of(Map.of("a-token-0123456789", new User("kim", Role.VIEWER))))
                .dashboard("one", Dashboard.on(scene.dataSource()))
                .dashboard("two", Dashboard.on(scene.dataSource()))
                .start()) {
            Map<String, String> kim = Map.of(
                    "host", site.url().substring(7).replace("/", ""), "authorization", "Bearer a-token-0123456789");
            for (int i = 0; i <= OverviewApi.MOST_WATCHERS; i++) {
                assertThat(status(site, "HEAD", "/one/api/live", kim)).isEqualTo(200);
            }
            for (int i = 0; i < OverviewApi.MOST_WATCHERS; i++) {
                assertThat(status(site, "GET", i % 2 == 0 ? "/one/api/live" : "/two/api/live", kim))
                        .isEqualTo(200);
            }
            assertThat(status(site, "GET", "/one/api/live", kim)).isEqualTo(503);
            assertThat(status(site, "GET", "/two/api/live", kim)).isEqualTo(503);
        }
        assertThat(System.getProperty(DashboardServer.LONGEST_REQUEST))
                .as("who sends slowly keeps no thread")
                .isEqualTo("30");
    }

    private static int status(DashboardServer site, String method, String path, Map<String, String> headers) {
        return site.handler()
                .handle(new Request(method, path, Map.of(), headers, new byte[0]))
                .status();
    }

    private static HttpResponse<String> answer(Caller caller, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(caller.request(path).build(), HttpResponse.BodyHandlers.ofString());
    }
}
