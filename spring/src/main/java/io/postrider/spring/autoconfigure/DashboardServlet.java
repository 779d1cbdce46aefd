// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.server.Answer;
import io.postrider.server.DashboardHandler;
import io.postrider.server.LiveAnswer;
import io.postrider.server.Request;
import io.postrider.server.Response;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands requests to the dashboard and answers back. Who watches live has no thread of the web server. Thread-safe. */
final class DashboardServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Logger log = LoggerFactory.getLogger(DashboardServlet.class);

    private final transient Supplier<@Nullable Running> running;
    private final transient Predicate<HttpServletRequest> allowed;

    /** What answers while the application runs, and the threads of those who watch live. */
    record Running(DashboardHandler handler, Executor watchers) {}

    DashboardServlet(Supplier<@Nullable Running> running, Predicate<HttpServletRequest> allowed) {
        this.running = running;
        this.allowed = allowed;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String mount = request.getContextPath() + request.getServletPath();
        Running now = running.get();
        if (!allowed.test(request)) {
            refuse(
                    response,
                    403,
                    "The dashboard is for browsers on this machine alone, at http://localhost. Set"
                            + " postrider.dashboard.users to let others sign in.");
        } else if (now == null) {
            refuse(response, 503, "The application starts or stops.");
        } else if (request.getRequestURI().equals(mount)) {
            // Relative, so that it is right behind a proxy that serves the application under another path.
            response.setHeader("Location", mount.substring(mount.lastIndexOf('/') + 1) + "/");
            response.setStatus(302);
        } else if (!request.getRequestURI().startsWith(mount + "/")) {
            refuse(response, 404, "There is no such page.");
        } else {
            answer(now, request, request.getRequestURI().substring(mount.length()), response);
        }
    }

    private static void refuse(HttpServletResponse response, int status, String why) throws IOException {
        response.setStatus(status);
        response.setContentType("text/plain;charset=UTF-8");
        response.setHeader("Cache-Control", "no-store");
        response.getWriter().println(why);
    }

    private static void answer(Running now, HttpServletRequest request, String path, HttpServletResponse response)
            throws IOException {
        byte[] body = request.getInputStream().readNBytes(DashboardHandler.LONGEST_BODY + 1);
        Answer answer = now.handler()
                .handle(Request.of(
                        request.getMethod(),
                        path,
                        request.getQueryString(),
                        headers(request),
                        body,
                        request.getRemoteAddr()));
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (answer instanceof Response whole) {
            if (whole.status() != 304) {
                response.setContentLength(whole.body().length);
            }
            if (!request.getMethod().equals("HEAD")) {
                response.getOutputStream().write(whole.body());
            }
        } else if (answer instanceof LiveAnswer live) {
            watch(now, live, request, response);
        }
    }

    private static void watch(Running now, LiveAnswer live, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (!request.isAsyncSupported()) {
            // A filter in front does not know of it: the thread that asks is the one that writes.
            live.body().writeTo(response.getOutputStream());
            return;
        }
        AsyncContext open = request.startAsync();
        open.setTimeout(0);
        Runnable write = () -> {
            try {
                live.body().writeTo(open.getResponse().getOutputStream());
            } catch (IOException | IllegalStateException e) {
                log.debug("A browser that watched the dashboard has left", e);
            } finally {
                complete(open);
            }
        };
        try {
            now.watchers().execute(write);
        } catch (RejectedExecutionException e) {
            // Stopped meanwhile: writes nothing, and gives the place back.
            write.run();
        }
    }

    private static void complete(AsyncContext open) {
        try {
            open.complete();
        } catch (IllegalStateException e) {
            log.debug("The web server had ended the request already", e);
        }
    }

    private static Map<String, String> headers(HttpServletRequest request) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.putIfAbsent(name.toLowerCase(Locale.ROOT), request.getHeader(name));
        }
        return headers;
    }
}
