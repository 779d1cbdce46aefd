// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.net.ssl.SSLSocketFactory;

/**
 * Where alerts are posted to, and what that may be: by default HTTPS and a public address. The host's name is resolved once per
 * message, and what is connected to is one of the addresses that were checked. Redirects are not followed and the answer's
 * body is not read. Since a webhook's URL is a secret, no message and no {@link #toString} shows more of it than the host.
 * Connections are direct: no proxy is used. Thread-safe.
 */
public final class Endpoint {
    private final URI uri;
    private final Rules rules;

    /** What is allowed beyond the defaults, and how names and certificates are looked at. */
    private record Rules(
            boolean plain,
            boolean anyAddress,
            Set<String> hosts,
            Duration timeout,
            SSLSocketFactory tls,
            Names names) {}

    /** Resolves the name of a host. */
    interface Names {
        InetAddress[] of(String host) throws UnknownHostException;
    }

    private Endpoint(URI uri, Rules rules) {
        this.uri = uri;
        this.rules = rules;
    }

    /**
     * To this URL.
     *
     * @throws IllegalArgumentException if it is not the absolute URL of a web server; the message does not repeat it
     */
    public static Endpoint of(String url) {
        URI uri;
        try {
            uri = URI.create(url.strip());
        } catch (IllegalArgumentException e) {
            uri = URI.create("");
        }
        String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
        if (!Set.of("http", "https").contains(scheme) || uri.getHost() == null || uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException(
                    "The URL of a webhook is not of the form https://host/path, without a user"
                            + " or a password. It is not shown here, since it is a secret.");
        }
        SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();
        return new Endpoint(
                uri, new Rules(false, false, Set.of(), Duration.ofSeconds(10), tls, InetAddress::getAllByName));
    }

    /** Allows http, where nobody listens in between. */
    public Endpoint allowHttp() {
        return with(new Rules(true, rules.anyAddress, rules.hosts, rules.timeout, rules.tls, rules.names));
    }

    /** Allows addresses that are private, of this machine or of this link: a receiver in your own network. */
    public Endpoint allowPrivateAddresses() {
        return with(new Rules(rules.plain, true, rules.hosts, rules.timeout, rules.tls, rules.names));
    }

    /** Allows these hosts and no others. */
    public Endpoint onlyHosts(String... hosts) {
        Set<String> lower = new TreeSet<>();
        Arrays.stream(hosts).forEach(each -> lower.add(each.toLowerCase(Locale.ROOT)));
        return with(new Rules(rules.plain, rules.anyAddress, lower, rules.timeout, rules.tls, rules.names));
    }

    /** For one message, half of it to connect and half of it for the answer; 10 s by default. */
    public Endpoint timeout(Duration timeout) {
        if (timeout.toMillis() < 1) {
            throw new IllegalArgumentException("A timeout of " + timeout + " is too short.");
        }
        return with(new Rules(rules.plain, rules.anyAddress, rules.hosts, timeout, rules.tls, rules.names));
    }

    /** Trusts other certificates than this JVM does, for example those of your own authority. */
    public Endpoint tls(SSLSocketFactory tls) {
        return with(new Rules(rules.plain, rules.anyAddress, rules.hosts, rules.timeout, tls, rules.names));
    }

    Endpoint names(Names names) {
        return with(new Rules(rules.plain, rules.anyAddress, rules.hosts, rules.timeout, rules.tls, names));
    }

    private Endpoint with(Rules other) {
        return new Endpoint(uri, other);
    }

    /** Refuses what can be known to be wrong without a look at the network. */
    Endpoint checked() {
        if (!secure() && !rules.plain) {
            throw new IllegalArgumentException("The webhook at " + this + " is not https. Use https, or allow http.");
        }
        if (!rules.hosts.isEmpty() && !rules.hosts.contains(host().toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    "The webhook at " + this + " is not at one of the hosts that are allowed: " + rules.hosts + ".");
        }
        return this;
    }

    /** Posts JSON; returns if the answer is 2xx. */
    void post(byte[] body, Map<String, String> headers) throws IOException {
        try {
            checked();
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        new Post(uri, rules.tls, rules.timeout).send(addresses(), body, headers, this.toString());
    }

    private List<InetAddress> addresses() throws IOException {
        List<InetAddress> all;
        try {
            all = List.of(rules.names.of(host()));
        } catch (UnknownHostException e) {
            throw new IOException("The host of " + this + " is not known", e);
        }
        List<InetAddress> allowed = all.stream()
                .filter(each -> rules.anyAddress || PublicAddress.is(each))
                .toList();
        if (allowed.isEmpty()) {
            throw new IOException("The address of " + this
                    + " is not a public one, so nothing was sent. If it shall be, allow private addresses.");
        }
        return allowed;
    }

    private boolean secure() {
        return "https".equalsIgnoreCase(uri.getScheme());
    }

    private String host() {
        return uri.getHost().replaceAll("[\\[\\]]", "");
    }

    @Override
    public String toString() {
        return uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + "/…";
    }
}
