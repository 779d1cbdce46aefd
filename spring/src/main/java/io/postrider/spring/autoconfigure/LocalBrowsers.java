// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.server.Authenticator;
import io.postrider.server.Request;
import io.postrider.server.User;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import org.springframework.boot.cloud.CloudPlatform;
import org.springframework.core.env.Environment;

/**
 * Lets whoever is on this machine in without a question. A proxy on this machine would make everybody look like that: so a
 * request that any proxy says it has passed on, or that asks for another name than this machine's own, is not from here; and
 * where the application trusts what proxies say, nobody is let in like this.
 */
record LocalBrowsers(User user) implements Authenticator {
    private static final Pattern OWN_NAME =
            Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1]|\\[0:0:0:0:0:0:0:1])(:\\d+)?");
    private static final Pattern NUMERIC = Pattern.compile("[0-9.]+|[0-9a-fA-F:.%]+");
    private static final List<String> PASSED_ON =
            List.of("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip");

    /** What makes the address of a request a matter of trust. */
    private static final List<String> TRUST =
            List.of("server.tomcat.remoteip.remote-ip-header", "server.tomcat.remoteip.protocol-header");

    static LocalBrowsers of(DashboardProperties given, Environment environment) {
        String strategy = environment.getProperty("server.forward-headers-strategy", "none");
        CloudPlatform platform = CloudPlatform.getActive(environment);
        String behind = !strategy.equalsIgnoreCase("none")
                ? "server.forward-headers-strategy is " + strategy
                : TRUST.stream()
                        .filter(name -> !environment.getProperty(name, "").isBlank())
                        .findFirst()
                        .map(name -> name + " is set")
                        .orElse(platform == null ? "" : "the application runs on " + platform);
        if (!behind.isEmpty()) {
            throw new SetupException(
                    "postrider.dashboard.local is true, and " + behind
                            + ": behind a proxy everybody could seem to be on this machine.",
                    "Let people sign in (postrider.dashboard.users, or an Authenticator bean), and leave"
                            + " postrider.dashboard.local to development.");
        }
        return new LocalBrowsers(new User("local", SignIn.role(given.localRole())));
    }

    /** Whether it was sent by this machine, to this machine, with nobody in between who says so. */
    static boolean sent(HttpServletRequest request) {
        HttpServletRequest first = unwrapped(request);
        String host = String.valueOf(first.getHeader("host")).toLowerCase(Locale.ROOT);
        return isLoopback(first.getRemoteAddr())
                && OWN_NAME.matcher(host).matches()
                && PASSED_ON.stream().allMatch(name -> first.getHeader(name) == null);
    }

    /** As the server took it: a filter may have put what a header says in the place of the sender. */
    private static HttpServletRequest unwrapped(HttpServletRequest request) {
        ServletRequest inner = request;
        while (inner instanceof ServletRequestWrapper wrapper) {
            inner = wrapper.getRequest();
        }
        return inner instanceof HttpServletRequest first ? first : request;
    }

    private static boolean isLoopback(String address) {
        try {
            // Only numbers: a name would be looked up.
            return NUMERIC.matcher(address).matches()
                    && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    @Override
    public Optional<User> authenticate(Request request) {
        return Optional.of(user);
    }

    @Override
    public String scheme() {
        return "";
    }
}
