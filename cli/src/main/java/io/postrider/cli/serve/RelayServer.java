// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.cli.config.ServeConfig;
import io.postrider.server.Dashboard;
import io.postrider.server.DashboardServer;
import io.postrider.server.Site;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs what a file describes until it is closed: for each database its relays, housekeeping and alerts, and one HTTP server
 * for all. Thread-safe.
 */
public final class RelayServer implements AutoCloseable {
    public static final String LIVE = "/health/live";
    public static final String READY = "/health/ready";
    public static final String METRICS = "/metrics";

    private static final Logger log = LoggerFactory.getLogger(RelayServer.class);

    private final Map<String, ServedDatabase> databases = new LinkedHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final DashboardServer http;

    private RelayServer(ServeConfig config) {
        String host = host();
        Meters meters = new Meters(config.metrics());
        config.databases().forEach((name, each) -> databases.put(name, new ServedDatabase(name, host, each, meters)));
        databases.forEach(meters::watch);
        try {
            // First, so that a port that is taken is known before anything is delivered.
            http = site(config, meters).start();
        } catch (RuntimeException e) {
            databases.values().forEach(ServedDatabase::close);
            throw e;
        }
        databases.values().forEach(ServedDatabase::start);
    }

    /**
     * Listens, and begins to serve all databases; one that is down is tried again until it is up.
     *
     * @throws RuntimeException if it cannot listen
     */
    public static RelayServer start(ServeConfig config) {
        RelayServer server = new RelayServer(config);
        log.info(
                "Postrider serves {} at {} (health/ready tells when it delivers)",
                String.join(", ", config.databases().keySet()),
                server.url());
        return server;
    }

    private Site site(ServeConfig config, Meters meters) {
        Health health = new Health(databases, config.health());
        Site site = Site.empty()
                .address(config.server().host())
                .port(config.server().port())
                .hosts(config.server().hosts().toArray(String[]::new))
                .openPage(LIVE, health::live)
                .openPage(READY, health::ready);
        if (config.metrics().open()) {
            site.openPage(METRICS, meters::scrape);
        } else {
            site.page(METRICS, meters::scrape);
        }
        if (!config.auth().none()) {
            site.authenticator(new SignIn(config.auth()));
        }
        databases.forEach((name, each) -> site.dashboard(
                name, Dashboard.on(each.dataSource()).tables(each.config().tables())));
        return site;
    }

    /** Where a browser on this machine finds it. */
    public String url() {
        return http.url();
    }

    /** In a container the process is always number 1, but the host's name is the pod's. */
    private static String host() {
        String name = System.getenv("HOSTNAME");
        try {
            name = name == null || name.isBlank() ? InetAddress.getLocalHost().getHostName() : name;
        } catch (UnknownHostException e) {
            name = "host";
        }
        return name + "-" + ProcessHandle.current().pid();
    }

    /**
     * Not ready from now on; finishes what relays have under way, at most their stop time, leaves their shares to others and
     * stops listening. Does nothing the second time.
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        log.info("Postrider stops");
        Together.run("postrider-stop", databases.values(), ServedDatabase::close);
        http.close();
        log.info("Postrider has stopped");
    }
}
