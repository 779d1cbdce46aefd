// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which action answers which request, and who may ask. What is not listed is not found. */
final class Router {
    private final List<Route> routes = new ArrayList<>();

    /** Answers one request. */
    interface Action {
        Answer on(Call call);
    }

    /** @param pattern such as {@code /api/events/{id}} */
    record Route(String method, String pattern, Role role, Action action) {}

    /** A request of somebody who may make it. */
    record Call(Request request, User user, Map<String, String> path) {
        Optional<String> query(String name) {
            return Optional.ofNullable(request.query().get(name)).filter(value -> !value.isBlank());
        }

        int limit() {
            return (int) number("limit", 50, 1, 200);
        }

        long number(String name, long otherwise, long least, long most) {
            String text = query(name).orElse(Long.toString(otherwise));
            try {
                long number = Long.parseLong(text);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Said below, as for a number out of range.
            }
            throw Problem.badRequest(name + " must be a whole number from " + least + " to " + most + ".");
        }
    }

    void get(String pattern, Role role, Action action) {
        routes.add(new Route("GET", pattern, role, action));
    }

    void post(String pattern, Role role, Action action) {
        routes.add(new Route("POST", pattern, role, action));
    }

    List<Route> routes() {
        return List.copyOf(routes);
    }

    Answer answer(Request request, User user) {
        boolean otherMethod = false;
        for (Route route : routes) {
            Optional<Map<String, String>> path = match(route.pattern(), request.path());
            if (path.isEmpty()) {
                continue;
            }
            if (!route.method().equals(request.method().equals("HEAD") ? "GET" : request.method())) {
                otherMethod = true;
                continue;
            }
            if (!user.role().includes(route.role())) {
                throw Problem.forbidden(
                        "This needs the role " + route.role() + ", and " + user.name() + " is " + user.role() + ".");
            }
            return route.action().on(new Call(request, user, path.get()));
        }
        throw Problem.notFound(
                otherMethod
                        ? "There is nothing for " + request.method() + " at this address."
                        : "There is nothing at this address. /api/openapi.json lists what there is.");
    }

    private static Optional<Map<String, String>> match(String pattern, String path) {
        String[] expected = pattern.split("/", -1);
        String[] given = path.split("/", -1);
        if (expected.length != given.length) {
            return Optional.empty();
        }
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 0; i < expected.length; i++) {
            if (expected[i].startsWith("{")) {
                values.put(expected[i].substring(1, expected[i].length() - 1), decoded(given[i]));
            } else if (!expected[i].equals(given[i])) {
                return Optional.empty();
            }
        }
        return Optional.of(values);
    }

    private static String decoded(String segment) {
        try {
            return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest("The address is not well-formed.");
        }
    }
}
