// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.OutboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers every request to the dashboard and its API, whichever HTTP server brings it: a request in, an answer out. Made by
 * {@link Dashboard#handler}. Thread-safe.
 */
public final class DashboardHandler implements RequestHandler {
    /** A longer body is refused; whoever reads the request need read no more than one byte beyond. */
    public static final int LONGEST_BODY = 2 << 20;

    private static final Logger log = LoggerFactory.getLogger(DashboardHandler.class);

    private final Access access;
    private final Assets assets = new Assets();
    private final Router router = new Router();
    private final OverviewApi overview;

    DashboardHandler(Storage storage, Access access, Redaction redaction) {
        this.access = access;
        Sampler sampler = new Sampler(storage);
        overview = new OverviewApi(sampler, access.places());
        overview.mount(router);
        new EventsApi(storage, redaction).mount(router);
        new DeadLettersApi(storage).mount(router);
        new StreamsApi(storage, sampler).mount(router);
        new LookApi(storage).mount(router);
        router.get("/api/openapi.json", Role.VIEWER, call -> description());
    }

    /** How many watch live. */
    int watchers() {
        return overview.watchers();
    }

    Router router() {
        return router;
    }

    /** Never throws; what fails is told as problem+json, without a stack trace. */
    @Override
    public Answer handle(Request request) {
        boolean api = request.path().startsWith("/api/");
        Answer answer;
        try {
            answer = api ? api(request) : asset(request);
        } catch (Problem e) {
            answer = e.response().with(access.challenge(e, request));
        } catch (OutboxException e) {
            answer = Problem.unavailable(String.valueOf(e.getMessage())).response();
        } catch (RuntimeException e) {
            String id = UUID.randomUUID().toString();
            log.warn("A request to the dashboard failed: {} {} ({})", request.method(), request.path(), id, e);
            answer = Problem.failed("The server's log tells more about " + id + ".")
                    .response();
        }
        return secured(answer, api);
    }

    private Answer api(Request request) {
        if (request.body().length > LONGEST_BODY) {
            throw Problem.tooLarge(LONGEST_BODY);
        }
        access.doorkeeper().check(request);
        return router.answer(request, access.user(request));
    }

    private Answer asset(Request request) {
        if (!request.method().equals("GET") && !request.method().equals("HEAD")) {
            throw Problem.notFound("Pages are got, not changed.");
        }
        return assets.find(request).orElseThrow(() -> Problem.notFound("There is no such page. Start at /"));
    }

    private Answer secured(Answer answer, boolean api) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("content-security-policy", assets.policy());
        headers.put("x-content-type-options", "nosniff");
        headers.put("x-frame-options", "DENY");
        headers.put("referrer-policy", "no-referrer");
        headers.put("cross-origin-resource-policy", "same-origin");
        headers.put("cross-origin-opener-policy", "same-origin");
        if (api) {
            headers.put("cache-control", "no-store");
        }
        return answer instanceof Response response ? response.with(headers) : ((LiveAnswer) answer).with(headers);
    }

    private static Response description() {
        try (InputStream in = DashboardHandler.class.getResourceAsStream("openapi.json")) {
            if (in == null) {
                throw Problem.notFound("The description is not in this jar.");
            }
            return new Response(200, Map.of("content-type", "application/json; charset=utf-8"), in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException("openapi.json cannot be read from the jar", e);
        }
    }

    /** Lets those who watch live go; further requests are still answered. */
    @Override
    public void close() {
        overview.close();
    }

    /**
     * Who may ask, the same for all dashboards of one server.
     *
     * @param places of those who watch live
     */
    record Access(
            Doorkeeper doorkeeper,
            Optional<Authenticator> authenticator,
            User local,
            Attempts attempts,
            Semaphore places) {
        User user(Request request) {
            if (authenticator.isEmpty()) {
                return local;
            }
            // Who sends nothing has not tried: so does every page before one has signed in.
            Optional<String> given = request.header("authorization");
            given.ifPresent(secret -> attempts.check(request.from(), secret));
            User user = authenticator.get().authenticate(request).orElseThrow(() -> {
                given.ifPresent(secret -> attempts.failed(request.from(), secret));
                return Problem.unauthorized("Sign in, or send the header Authorization.");
            });
            given.ifPresent(secret -> attempts.succeeded(request.from(), secret));
            return user;
        }

        String scheme() {
            return authenticator.map(Authenticator::scheme).orElse("");
        }

        /** Scripts are asked by the browser's own dialog, the dashboard asks itself. */
        Map<String, String> challenge(Problem problem, Request request) {
            if (problem.status() != 401) {
                return Map.of();
            }
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("x-postrider-scheme", scheme());
            if (request.header(Doorkeeper.MARK).isEmpty()) {
                headers.put("www-authenticate", scheme() + " realm=\"Postrider\"");
            }
            return headers;
        }
    }
}
