// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Describes one server for the dashboards of several databases, each below its name, and for other pages; not thread-safe.
 *
 * <pre>{@code
 * DashboardServer server = Site.empty()
 *         .dashboard("orders", Dashboard.on(orders))
 *         .dashboard("billing", Dashboard.on(billing))
 *         .start();                                        // http://localhost:8090/orders/ and /billing/
 * }</pre>
 *
 * <p>Where it listens and who may ask is said here, not to the dashboards.
 */
public final class Site {
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]*");

    private final Map<String, Dashboard> dashboards = new LinkedHashMap<>();
    private final Map<String, Page> pages = new LinkedHashMap<>();
    private final Set<String> hosts = new LinkedHashSet<>();
    private String address = "127.0.0.1";
    private int port = 8090;
    private @Nullable Authenticator authenticator;

    private Site() {}

    public static Site empty() {
        return new Site();
    }

    /** Answers a request to a page of your own. */
    @FunctionalInterface
    public interface Answering {
        Response answer(Request request);
    }

    /** @param open whether everybody may see it without signing in */
    record Page(boolean open, Answering answering) {}

    /** The dashboard of one database, at {@code /name/}. */
    public Site dashboard(String name, Dashboard dashboard) {
        if (!NAME.matcher(name).matches() || dashboards.putIfAbsent(name, dashboard) != null) {
            throw new IllegalArgumentException("A dashboard cannot be at /" + name
                    + "/: names have lower-case letters, digits and -, and each is given once.");
        }
        return this;
    }

    /** A page for those who may look, whatever their role. */
    public Site page(String path, Answering answering) {
        pages.put(path, new Page(false, answering));
        return this;
    }

    /** A page for everybody who reaches the server, without signing in. */
    public Site openPage(String path, Answering answering) {
        pages.put(path, new Page(true, answering));
        return this;
    }

    /** As {@link Dashboard#address}. */
    public Site address(String address) {
        this.address = address;
        return this;
    }

    /** As {@link Dashboard#port}. */
    public Site port(int port) {
        this.port = port;
        return this;
    }

    /** As {@link Dashboard#authenticator}. */
    public Site authenticator(Authenticator authenticator) {
        this.authenticator = authenticator;
        return this;
    }

    /** As {@link Dashboard#hosts}. */
    public Site hosts(String... names) {
        Arrays.stream(names).map(name -> name.toLowerCase(Locale.ROOT)).forEach(hosts::add);
        return this;
    }

    /**
     * Listens.
     *
     * @throws IllegalStateException if others could reach it and nobody asks them who they are
     */
    public DashboardServer start() {
        Listening listening =
                new Listening(address, port, Set.copyOf(hosts), Optional.ofNullable(authenticator), Role.OPERATOR);
        return listening.start(access -> {
            Map<String, DashboardHandler> mounted = new LinkedHashMap<>();
            dashboards.forEach((name, each) -> mounted.put(name, each.handler(access)));
            return new SiteHandler(mounted, Map.copyOf(pages), access);
        });
    }
}
