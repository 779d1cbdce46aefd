// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.server.testkit.Scene;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Who may ask what, from where. */
class AccessTest {
    private static final Scene scene = Scene.empty().filled();
    private static final Map<Role, String> TOKENS = Map.of(
            Role.VIEWER, "viewer-token-0123456789",
            Role.OPERATOR, "operator-token-0123456789",
            Role.ADMIN, "admin-token-0123456789");
    private static final DashboardServer server = Dashboard.on(scene.dataSource())
            .port(0)
            .authenticator(TokenAuthenticator.of(Map.of(
                    TOKENS.get(Role.VIEWER), new User("vera", Role.VIEWER),
                    TOKENS.get(Role.OPERATOR), new User("omar", Role.OPERATOR),
                    TOKENS.get(Role.ADMIN), new User("ada", Role.ADMIN))))
            .start();
    private static final String RIGHT = "Content-Type: application/json\r\nX-Postrider: 1\r\n";
    private static final DashboardServer open =
            Dashboard.on(scene.dataSource()).port(0).start();

    @AfterAll
    static void stop() {
        server.close();
        open.close();
    }

    /** Every route, written down: a new one is missing here until somebody has decided who may use it. */
    private static final Map<String, Role> MATRIX = Map.ofEntries(
            Map.entry("GET /api/me", Role.VIEWER),
            Map.entry("GET /api/overview", Role.VIEWER),
            Map.entry("GET /api/live", Role.VIEWER),
            Map.entry("GET /api/events", Role.VIEWER),
            Map.entry("GET /api/events/{id}", Role.VIEWER),
            Map.entry("POST /api/events/{id}/edit", Role.ADMIN),
            Map.entry("GET /api/dead-letters", Role.VIEWER),
            Map.entry("GET /api/dead-letters/groups", Role.VIEWER),
            Map.entry("POST /api/dead-letters/requeue", Role.OPERATOR),
            Map.entry("POST /api/dead-letters/unhold", Role.OPERATOR),
            Map.entry("POST /api/dead-letters/discard", Role.ADMIN),
            Map.entry("GET /api/streams", Role.VIEWER),
            Map.entry("POST /api/streams/pause", Role.OPERATOR),
            Map.entry("POST /api/streams/resume", Role.OPERATOR),
            Map.entry("GET /api/held-keys", Role.VIEWER),
            Map.entry("GET /api/relays", Role.VIEWER),
            Map.entry("GET /api/inbox", Role.VIEWER),
            Map.entry("GET /api/problems", Role.VIEWER),
            Map.entry("GET /api/audit", Role.VIEWER),
            Map.entry("GET /api/openapi.json", Role.VIEWER));

    @Test
    void everyRouteAsksForItsRole() throws Exception {
        assertThat(routes()).isEqualTo(new TreeSet<>(MATRIX.keySet()));
        for (Map.Entry<String, Role> route : MATRIX.entrySet()) {
            assertThat(status(route.getKey(), Optional.empty()))
                    .as("nobody: %s", route)
                    .isEqualTo(401);
            for (Role role : Role.values()) {
                int status = status(route.getKey(), Optional.of(role));
                if (role.compareTo(route.getValue()) < 0) {
                    assertThat(status).as("%s: %s", role, route).isEqualTo(403);
                } else {
                    assertThat(status).as("%s: %s", role, route).isIn(200, 400, 404, 409);
                }
            }
        }
    }

    private static Set<String> routes() {
        Set<String> routes = new TreeSet<>();
        ((DashboardHandler) server.handler())
                .router()
                .routes()
                .forEach(each -> routes.add(each.method() + " " + each.pattern()));
        return routes;
    }

    /** Reads no body, since one of them never ends. */
    private static int status(String route, Optional<Role> role) throws Exception {
        String path = route.substring(route.indexOf('/') + 1).replace("{id}", "00000000-0000-0000-0000-000000000000");
        HttpRequest.Builder request =
                new Caller(server, role.map(AccessTest::bearer).orElse(Map.of())).request(path);
        request = route.startsWith("POST")
                ? request.header("X-Postrider", "1")
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{}"))
                : request.GET();
        HttpResponse<InputStream> response =
                HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        response.body().close();
        return response.statusCode();
    }

    private static Map<String, String> bearer(Role role) {
        return Map.of("Authorization", "Bearer " + TOKENS.get(role));
    }

    @Test
    void theDescriptionTellsOfEveryRouteAndNoOther() {
        Map<?, ?> paths =
                new Caller(server, bearer(Role.VIEWER)).get("api/openapi.json").object("paths");
        Set<String> described = new TreeSet<>();
        paths.forEach((path, operations) -> ((Map<?, ?>) operations).forEach((method, operation) -> {
            String route = method.toString().toUpperCase(Locale.ROOT) + " " + path;
            described.add(route);
            Map<?, ?> told = (Map<?, ?>) operation;
            assertThat(told.get("x-role")).as(route).isEqualTo(String.valueOf(MATRIX.get(route)));
            assertThat(told.containsKey("requestBody")).as(route).isEqualTo(method.equals("post"));
            long ids = Objects.requireNonNullElse((List<?>) told.get("parameters"), List.of()).stream()
                    .filter(each -> "path".equals(((Map<?, ?>) each).get("in")))
                    .count();
            assertThat(ids).as(route).isEqualTo(path.toString().contains("{") ? 1 : 0);
        }));
        assertThat(described).isEqualTo(routes());
    }

    @Test
    void viewersSeeNeitherPayloadsNorHeaders() {
        String id = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        Caller.Told told = new Caller(server, bearer(Role.VIEWER)).get("api/events/" + id);
        assertThat(told.text("payloadKind")).isEqualTo("FORBIDDEN");
        assertThat(told.response().body()).doesNotContain("4242", "north", "tok_4711");
        assertThat(told.object("headers").get("tenant")).isEqualTo("[hidden]");
        assertThat(told.object("headers").get("traceparent")).asString().startsWith("00-");
        assertThat(new Caller(server, bearer(Role.OPERATOR))
                        .get("api/events/" + id)
                        .text("payload"))
                .contains("4242");
    }

    @Test
    void whatIsDoneIsAuditedWithTheNameOfWhoDidIt() {
        String id = scene.dead("order-events", "order-1", "OrderPlaced", "BAD", "no");
        new Caller(server, bearer(Role.OPERATOR))
                .post("api/dead-letters/requeue", Map.of("events", List.of(id), "reason", "fixed", "who", "ada"));
        assertThat(scene.column("SELECT who FROM outbox_audit WHERE event_id = '" + id + "'"))
                .containsExactly("omar");
    }

    @Test
    void aTokenMustBeTheWholeToken() {
        String token = String.valueOf(TOKENS.get(Role.ADMIN));
        for (String wrong : List.of(
                "",
                "Bearer",
                "Bearer ",
                "Bearer " + token.substring(1),
                "Bearer " + token + "x",
                "Basic " + token,
                token)) {
            assertThat(new Caller(server, Map.of("Authorization", wrong))
                            .get("api/me")
                            .status())
                    .as(wrong)
                    .isEqualTo(401);
        }
        assertThat(new Caller(server, Map.of("Authorization", "bearer " + token))
                        .get("api/me")
                        .text("name"))
                .isEqualTo("ada");
        assertThatThrownBy(() -> TokenAuthenticator.of(Map.of("short", new User("ada", Role.ADMIN))))
                .hasMessage("The token of ada has 5 characters and can be guessed. Give it 16 or more.");
    }

    @Test
    void namesAndPasswordsAreKnownToo() {
        BasicAuthenticator basic = BasicAuthenticator.empty()
                .user("kim", "correct horse battery", Role.OPERATOR)
                .user("lee", "staple staple staple", Role.VIEWER);
        assertThat(basic.authenticate(asking("kim:correct horse battery"))).contains(new User("kim", Role.OPERATOR));
        assertThat(basic.authenticate(asking("lee:staple staple staple"))).contains(new User("lee", Role.VIEWER));
        for (String wrong : List.of("kim:staple staple staple", "kim:", ":correct horse battery", "kim", "")) {
            assertThat(basic.authenticate(asking(wrong))).as(wrong).isEmpty();
        }
        assertThat(basic.authenticate(
                        new Request("GET", "/", Map.of(), Map.of("authorization", "Basic %%%"), new byte[0])))
                .isEmpty();
        assertThatThrownBy(() -> basic.user("ada", "short", Role.ADMIN)).hasMessageContaining("password of ada has 5");
        assertThatThrownBy(() -> basic.user("a:b", "correct horse battery", Role.ADMIN))
                .hasMessageContaining("colon");
    }

    private static Request asking(String nameAndPassword) {
        String encoded = Base64.getEncoder().encodeToString(nameAndPassword.getBytes(StandardCharsets.UTF_8));
        return new Request("GET", "/api/me", Map.of(), Map.of("authorization", "Basic " + encoded), new byte[0]);
    }

    @Test
    void itListensElsewhereOnlyWithAnAuthenticator() {
        assertThatThrownBy(() -> Dashboard.on(scene.dataSource())
                        .address("0.0.0.0")
                        .port(0)
                        .start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("will not listen on 0.0.0.0 without an authenticator");
        assertThatThrownBy(() -> Dashboard.on(scene.dataSource()).handler())
                .hasMessageContaining("needs an authenticator");
        BasicAuthenticator basic = BasicAuthenticator.empty().user("kim", "correct horse battery", Role.VIEWER);
        try (DashboardServer everywhere = Dashboard.on(scene.dataSource())
                .address("0.0.0.0")
                .port(0)
                .authenticator(basic)
                .start()) {
            Caller.Told told = Caller.of(everywhere).get("api/me");
            assertThat(told.status()).isEqualTo(401);
            assertThat(told.response().headers().firstValue("www-authenticate")).contains("Basic realm=\"Postrider\"");
        }
        int taken = URI.create(open.url()).getPort();
        assertThatThrownBy(() -> Dashboard.on(scene.dataSource()).port(taken).start())
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("port " + taken);
    }

    @Test
    void theLocalUserIsAnOperatorUnlessToldOtherwise() {
        assertThat(Caller.of(open).get("api/me").json()).isEqualTo(Map.of("name", "local", "role", "OPERATOR"));
        Map<String, Object> discard = Map.of("events", List.of("00000000-0000-0000-0000-000000000000"), "reason", "r");
        Caller.Told told = Caller.of(open).post("api/dead-letters/discard", discard);
        assertThat(told.status()).isEqualTo(403);
        assertThat(told.text("detail")).isEqualTo("This needs the role ADMIN, and local is OPERATOR.");
    }

    @Test
    void aNameThatLeadsHereIsNotEnough() throws IOException {
        int port = URI.create(open.url()).getPort();
        assertThat(raw(open, "GET /api/me HTTP/1.1\r\nHost: localhost:" + port + "\r\n\r\n"))
                .startsWith("HTTP/1.1 200");
        assertThat(raw(open, "GET /api/me HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n\r\n"))
                .startsWith("HTTP/1.1 200");
        for (String host : List.of(
                "evil.example:" + port, "localhost", "localhost:1", "localhost:" + port + ".evil.example", "")) {
            assertThat(raw(open, "GET /api/me HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
                    .as(host)
                    .startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void browsersLeaveTheUsualPortsOutOfTheNamesThatAreKnown() throws IOException {
        try (DashboardServer proxied = Dashboard.on(scene.dataSource())
                .port(0)
                .hosts("outbox.example.com:443", "plain.example.com:80", "odd.example.com:8443")
                .start()) {
            for (String host : List.of(
                    "outbox.example.com", "Outbox.Example.com:443", "plain.example.com", "odd.example.com:8443")) {
                assertThat(raw(proxied, "GET /api/me HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
                        .as(host)
                        .startsWith("HTTP/1.1 200");
            }
            for (String host : List.of("odd.example.com", "outbox.example.com:8443", "evil.example")) {
                assertThat(raw(proxied, "GET /api/me HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))
                        .as(host)
                        .startsWith("HTTP/1.1 403");
            }
            for (String host : List.of("outbox.example.com", "outbox.example.com:443")) {
                assertThat(pause(proxied, host, RIGHT + "Origin: https://outbox.example.com\r\n"))
                        .as(host)
                        .startsWith("HTTP/1.1 409");
            }
            assertThat(pause(proxied, "outbox.example.com", RIGHT + "Origin: https://plain.example.com\r\n"))
                    .startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void aPageOfAnotherSiteChangesNothing() throws IOException {
        int port = URI.create(open.url()).getPort();
        String own = "Origin: http://localhost:" + port + "\r\n";
        assertThat(pause(port, RIGHT + own + "Sec-Fetch-Site: same-origin\r\n")).startsWith("HTTP/1.1 409");
        assertThat(pause(port, RIGHT)).as("a script").startsWith("HTTP/1.1 409");
        assertThat(pause(port, "Content-Type: application/json\r\n" + own)).startsWith("HTTP/1.1 403");
        assertThat(pause(port, RIGHT + "Origin: http://evil.example\r\n")).startsWith("HTTP/1.1 403");
        assertThat(pause(port, RIGHT + "Origin: null\r\n")).startsWith("HTTP/1.1 403");
        assertThat(pause(port, RIGHT + "Origin: http://localhost:" + (port + 1) + "\r\n"))
                .startsWith("HTTP/1.1 403");
        assertThat(pause(port, RIGHT + "Sec-Fetch-Site: cross-site\r\n")).startsWith("HTTP/1.1 403");
        assertThat(pause(port, "Content-Type: text/plain\r\nX-Postrider: 1\r\n" + own))
                .startsWith("HTTP/1.1 400");
    }

    private static String pause(int port, String headers) throws IOException {
        return pause(open, "localhost:" + port, headers);
    }

    private static String pause(DashboardServer to, String host, String headers) throws IOException {
        String body = "{\"stream\": \"unknown\", \"reason\": \"r\"}";
        return raw(
                to,
                "POST /api/streams/pause HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "Content-Length: "
                        + body.length() + "\r\n\r\n" + body);
    }

    private static String raw(DashboardServer to, String request) throws IOException {
        try (Socket socket = new Socket(
                InetAddress.getLoopbackAddress(), URI.create(to.url()).getPort())) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            byte[] start = socket.getInputStream().readNBytes(40);
            return new String(start, StandardCharsets.US_ASCII);
        }
    }

    @Test
    void everyAnswerForbidsWhatItDoesNotNeed() {
        for (String path :
                List.of("", "app.js", "api/me", "api/nothing", "nothing", "../pom.xml", "%2e%2e/openapi.json")) {
            HttpResponse<String> answer =
                    Caller.of(open).send(Caller.of(open).request(path).GET());
            assertThat(answer.headers().firstValue("content-security-policy").orElse(""))
                    .as(path)
                    .startsWith("default-src 'none'; script-src 'self' 'sha256-")
                    .contains("frame-ancestors 'none'", "base-uri 'none'")
                    .doesNotContain("unsafe");
            assertThat(answer.headers().firstValue("x-content-type-options")).contains("nosniff");
            assertThat(answer.headers().firstValue("cache-control").orElse("no-cache"))
                    .as(path)
                    .isEqualTo(path.startsWith("api/") ? "no-store" : "no-cache");
        }
        assertThat(Caller.of(open).get("nothing").status()).isEqualTo(404);
        assertThat(Caller.of(open).get("%2e%2e/openapi.json").status()).isEqualTo(404);
    }

    @Test
    void filesAreSentOnceAndThenByTheirTag() {
        Caller caller = Caller.of(open);
        HttpResponse<String> first =
                caller.send(caller.request("vendor/preact.mjs").GET());
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.headers().firstValue("content-type")).contains("text/javascript; charset=utf-8");
        String tag = first.headers().firstValue("etag").orElseThrow();
        assertThat(caller.send(caller.request("vendor/preact.mjs")
                                .header("If-None-Match", tag)
                                .GET())
                        .statusCode())
                .isEqualTo(304);
    }

    @Test
    void noStackTraceLeavesTheServer() {
        CountedSource source = new CountedSource(scene.dataSource(), new AtomicInteger());
        source.down = new SQLException("the database is gone\nDetail: a secret");
        try (DashboardServer broken =
                Dashboard.on(source).port(0).localRole(Role.ADMIN).start()) {
            Caller.Told down = Caller.of(broken).get("api/held-keys");
            assertThat(down.status()).isEqualTo(503);
            assertThat(down.text("detail")).isEqualTo("Could not read held keys: the database is gone");
            assertThat(Caller.of(broken).get("api/overview").text("level")).isEqualTo("PROBLEM");
            source.down = new IllegalStateException("a secret that nobody expected");
            Caller.Told failed = Caller.of(broken).get("api/held-keys");
            assertThat(failed.status()).isEqualTo(500);
            assertThat(failed.response().body()).doesNotContain("Exception", "secret", "at io.");
        }
    }
}
