// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.table.TableNames;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Describes a dashboard before it starts; not thread-safe.
 *
 * <pre>{@code
 * DashboardServer dashboard = Dashboard.on(dataSource).port(8090).start();      // on this machine only
 * Dashboard.on(dataSource).address("0.0.0.0").authenticator(TokenAuthenticator.of(tokens)).start();
 * }</pre>
 *
 * <p>It needs a data source that gives it up to four connections at once, of the database role {@code postrider_operator},
 * for edits {@code postrider_editor}.
 */
public final class Dashboard {
    private final DataSource dataSource;
    private TableNames tables = TableNames.ofDefaults();
    private String address = "127.0.0.1";
    private int port = 8090;
    private @Nullable Authenticator authenticator;
    private Role localRole = Role.OPERATOR;
    private Redaction redaction = Redaction.standard();
    private final Set<String> hosts = new LinkedHashSet<>();

    private Dashboard(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    public static Dashboard on(DataSource dataSource) {
        return new Dashboard(dataSource);
    }

    /** Where the tables are; the first schema of the search_path unless told otherwise. */
    public Dashboard tables(TableNames tables) {
        this.tables = tables;
        return this;
    }

    /** The address to listen on, 127.0.0.1 unless told otherwise. Any but a loopback address needs an authenticator. */
    public Dashboard address(String address) {
        this.address = address;
        return this;
    }

    /** The port to listen on, 8090 unless told otherwise; 0 takes a free one. */
    public Dashboard port(int port) {
        this.port = port;
        return this;
    }

    /** Who may ask; without one everybody on this machine is the user {@code local}. */
    public Dashboard authenticator(Authenticator authenticator) {
        this.authenticator = authenticator;
        return this;
    }

    /** What the user {@code local} may do without an authenticator, {@link Role#OPERATOR} unless told otherwise. */
    public Dashboard localRole(Role role) {
        this.localRole = role;
        return this;
    }

    /** What is hidden, {@link Redaction#standard} unless told otherwise. */
    public Dashboard redaction(Redaction redaction) {
        this.redaction = redaction;
        return this;
    }

    /** Names with ports under which browsers reach it besides its own address: {@code outbox.example.com:443}. */
    public Dashboard hosts(String... names) {
        Arrays.stream(names).map(name -> name.toLowerCase(Locale.ROOT)).forEach(hosts::add);
        return this;
    }

    /**
     * For an HTTP server that runs already.
     *
     * @throws IllegalStateException without an authenticator: the handler cannot know who can reach that server
     */
    public DashboardHandler handler() {
        if (authenticator == null) {
            throw new IllegalStateException("A dashboard in another server needs an authenticator: who can reach that"
                    + " server is not known here. Call authenticator(...).");
        }
        return handler(listening().access(Set.copyOf(hosts)));
    }

    DashboardHandler handler(DashboardHandler.Access access) {
        return new DashboardHandler(new Storage(dataSource, tables), access, redaction);
    }

    /**
     * Listens.
     *
     * @throws IllegalStateException if others could reach it and nobody asks them who they are
     */
    public DashboardServer start() {
        return listening().start(this::handler);
    }

    private Listening listening() {
        return new Listening(address, port, Set.copyOf(hosts), Optional.ofNullable(authenticator), localRole);
    }
}
