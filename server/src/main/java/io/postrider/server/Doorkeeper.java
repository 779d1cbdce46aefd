// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.net.URI;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Lets a request to the API through that was meant for this server, by a page of this server. A page of another site can
 * make a browser send anything but the header {@value #MARK}, and can make its own name lead here, but not change the
 * names that are known here.
 *
 * @param hosts the names, with their ports, under which this server is reached; empty if an authenticator decides alone
 */
record Doorkeeper(Set<String> hosts) {
    static final String MARK = "x-postrider";

    void check(Request request) {
        String host = request.header("host").orElse("").toLowerCase(Locale.ROOT);
        if (!hosts.isEmpty() && !knows(host)) {
            throw Problem.forbidden("This server is not known as '" + clean(host)
                    + "'. Use the address that it printed, or add the name to its hosts.");
        }
        if (request.method().equals("GET") || request.method().equals("HEAD")) {
            return;
        }
        if (request.header(MARK).isEmpty()) {
            throw Problem.forbidden("A request that changes something needs the header " + MARK + ": 1.");
        }
        request.header("origin").ifPresent(origin -> {
            Optional<String> page = authority(origin);
            if (!page.equals(Optional.of(host)) && !page.equals(Optional.of(withoutPort(host)))) {
                throw Problem.forbidden("The page at " + clean(origin) + " is not of this server.");
            }
        });
        request.header("sec-fetch-site").ifPresent(site -> {
            if (!site.equals("same-origin") && !site.equals("none")) {
                throw Problem.forbidden("A page of another site asked for it.");
            }
        });
    }

    /** Browsers leave the port of https and of http out. */
    private boolean knows(String host) {
        return hosts.contains(host) || hosts.contains(host + ":443") || hosts.contains(host + ":80");
    }

    private static String withoutPort(String host) {
        return host.replaceFirst(":(443|80)$", "");
    }

    private static Optional<String> authority(String origin) {
        try {
            return Optional.ofNullable(URI.create(origin).getAuthority()).map(each -> each.toLowerCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static String clean(String text) {
        return text.replaceAll("[^\\p{Alnum}.:/\\[\\]-]", "?");
    }
}
