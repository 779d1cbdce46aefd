// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes each request on to the page or the dashboard that it is for. Names of databases are no secret here. Thread-safe. */
final class SiteHandler implements RequestHandler {
    private static final Logger log = LoggerFactory.getLogger(SiteHandler.class);

    private final Map<String, DashboardHandler> dashboards;
    private final Map<String, Site.Page> pages;
    private final DashboardHandler.Access access;

    SiteHandler(
            Map<String, DashboardHandler> dashboards, Map<String, Site.Page> pages, DashboardHandler.Access access) {
        this.dashboards = dashboards;
        this.pages = pages;
        this.access = access;
    }

    @Override
    public Answer handle(Request request) {
        try {
            Site.Page page = pages.get(request.path());
            return page == null ? dashboard(request) : secured(page(page, request));
        } catch (Problem e) {
            return secured(e.response().with(access.challenge(e, request)));
        } catch (RuntimeException e) {
            log.warn("A request failed: {} {}", request.method(), request.path(), e);
            return secured(
                    Problem.failed("The server's log tells more about it.").response());
        }
    }

    private Response page(Site.Page page, Request request) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            throw Problem.notFound("There is nothing for " + request.method() + " at this address.");
        }
        if (!page.open()) {
            if (access.authenticator().isEmpty()) {
                access.doorkeeper().check(request);
            }
            // Scripts know a server by many names, and a page of another site has nothing to sign in with.
            access.user(request);
        }
        return page.answering().answer(request);
    }

    private Answer dashboard(Request request) {
        String path = request.path();
        if (path.isEmpty() || path.equals("/")) {
            return dashboards.size() == 1
                    ? moved("./" + dashboards.keySet().iterator().next() + "/")
                    : secured(index());
        }
        int slash = path.indexOf('/', 1);
        String name = slash < 0 ? path.substring(1) : path.substring(1, slash);
        DashboardHandler handler = dashboards.get(name);
        if (handler == null) {
            throw Problem.notFound("There is no such page. Start at /");
        }
        return slash < 0 ? moved("./" + name + "/") : handler.handle(request.below(path.substring(slash)));
    }

    private Response moved(String where) {
        return secured(new Response(302, Map.of("location", where, "cache-control", "no-store"), new byte[0]));
    }

    private Response index() {
        StringBuilder links = new StringBuilder();
        dashboards.keySet().forEach(name -> links.append("<li><a href=\"./%1$s/\">%1$s</a></li>".formatted(name)));
        Optional<String> first = dashboards.keySet().stream().findFirst();
        String style = first.map(name -> "<link rel=\"stylesheet\" href=\"./" + name + "/app.css\">")
                .orElse("");
        String page = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Postrider</title>" + style
                + "</head><body><main><h1>Databases</h1><ul>" + links + "</ul></main></body></html>";
        return new Response(
                200,
                Map.of("content-type", "text/html; charset=utf-8", "cache-control", "no-store"),
                page.getBytes(StandardCharsets.UTF_8));
    }

    private static Response secured(Response response) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("content-security-policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'");
        headers.put("x-content-type-options", "nosniff");
        headers.put("x-frame-options", "DENY");
        headers.put("referrer-policy", "no-referrer");
        return response.with(headers);
    }

    @Override
    public void close() {
        dashboards.values().forEach(DashboardHandler::close);
    }
}
