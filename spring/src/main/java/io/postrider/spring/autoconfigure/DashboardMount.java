// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.server.Authenticator;
import io.postrider.server.Dashboard;
import io.postrider.server.DashboardHandler;
import io.postrider.server.Redaction;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;

/**
 * Mounts the dashboard in the application's own web server, if somebody can sign in, and says where it is. It is the first to
 * stop: the web server would wait for those who watch live.
 */
public final class DashboardMount implements ServletContextInitializer, SmartLifecycle {
    private static final Logger log = LoggerFactory.getLogger(DashboardMount.class);
    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)+");
    /** Some more than the dashboard lets watch: a thread ends a little after its reader has left. */
    private static final int MOST_WATCHERS = 80;

    private final DashboardProperties given;
    private final ListableBeanFactory beans;
    private final Environment environment;
    private final boolean mounted;
    private final @Nullable Authenticator fromSettings;
    private volatile DashboardServlet.@Nullable Running running;
    private volatile @Nullable String contextPath;
    private @Nullable ExecutorService watchers;

    DashboardMount(DashboardProperties given, ListableBeanFactory beans, Environment environment) {
        this.given = given;
        this.beans = beans;
        this.environment = environment;
        if (!PATH.matcher(given.path()).matches()) {
            throw new SetupException(
                    "The dashboard cannot be mounted at '" + given.path() + "'.",
                    "Set postrider.dashboard.path to one that begins with a slash and ends without, such as"
                            + " /postrider.");
        }
        boolean signIn = !given.users().isEmpty() || ownAuthenticator();
        if (given.local() && signIn) {
            throw new SetupException(
                    "postrider.dashboard.local is true, so that nobody has to sign in, and there "
                            + (ownAuthenticator() ? "is an Authenticator bean" : "are postrider.dashboard.users")
                            + ", so that everybody has to.",
                    "Leave out one of them.");
        }
        if (!given.users().isEmpty() && ownAuthenticator()) {
            throw new SetupException(
                    "There are postrider.dashboard.users, and there is an Authenticator bean, which would not know them.",
                    "Leave out one of them.");
        }
        mounted = signIn || given.local();
        fromSettings = given.local()
                ? LocalBrowsers.of(given, environment)
                : given.users().isEmpty() ? null : SignIn.of(given.users());
    }

    private boolean ownAuthenticator() {
        return beans.getBeanNamesForType(Authenticator.class, true, false).length > 0;
    }

    @Override
    public void onStartup(ServletContext context) {
        if (!mounted) {
            return;
        }
        Predicate<HttpServletRequest> allowed = given.local() ? LocalBrowsers::sent : request -> true;
        ServletRegistration.Dynamic servlet =
                context.addServlet("postriderDashboard", new DashboardServlet(() -> running, allowed));
        servlet.addMapping(given.path() + "/*");
        servlet.setAsyncSupported(true);
        contextPath = context.getContextPath();
    }

    @Override
    public synchronized void start() {
        if (!mounted) {
            log.info("The dashboard is not mounted, since nobody could sign in. Set postrider.dashboard.users, add an"
                    + " Authenticator bean, or, on a developer's machine, set postrider.dashboard.local=true");
            return;
        }
        if (running == null) {
            ThreadPoolExecutor threads =
                    new ThreadPoolExecutor(0, MOST_WATCHERS, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                        Thread thread = new Thread(task, "postrider-dashboard");
                        thread.setDaemon(true);
                        return thread;
                    });
            watchers = threads;
            running = new DashboardServlet.Running(handler(), threads);
            if (given.local()) {
                log.warn(
                        "The dashboard is at {}, and nobody has to sign in, since postrider.dashboard.local is true: for"
                                + " development alone",
                        address());
            } else {
                log.info("The dashboard is at {}", address());
            }
        }
    }

    private DashboardHandler handler() {
        Storage storage = beans.getBean(Storage.class);
        return Dashboard.on(storage.dataSource())
                .tables(storage.tables())
                .authenticator(authenticator())
                .hosts(given.hosts().toArray(String[]::new))
                .redaction(Redaction.standard()
                        .hide(given.hide().toArray(String[]::new))
                        .showToViewers(given.showToViewers().toArray(String[]::new)))
                .handler();
    }

    private Authenticator authenticator() {
        return fromSettings == null ? beans.getBean(Authenticator.class) : fromSettings;
    }

    /** As a browser on this machine finds it, where the web server is the application's own. */
    private String address() {
        String port = environment.getProperty("local.server.port");
        String path = (contextPath == null ? "" : contextPath) + given.path() + "/";
        boolean tls = environment.containsProperty("server.ssl.key-store")
                || environment.containsProperty("server.ssl.bundle")
                || environment.containsProperty("server.ssl.certificate");
        return port == null ? path : (tls ? "https" : "http") + "://localhost:" + port + path;
    }

    @Override
    public synchronized void stop() {
        DashboardServlet.Running before = running;
        running = null;
        if (before != null) {
            before.handler().close();
        }
        if (watchers != null) {
            // They sleep between two looks.
            watchers.shutdownNow();
            watchers = null;
        }
    }

    @Override
    public boolean isRunning() {
        return running != null;
    }

    /** The last to start, when the port is known, and the first to stop. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
