// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

    private static HttpResponse<String> answer(Caller caller, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(caller.request(path).build(), HttpResponse.BodyHandlers.ofString());
    }
}
