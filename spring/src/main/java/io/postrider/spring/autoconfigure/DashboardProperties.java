// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The dashboard in this application, where postrider-server is a dependency too.
 *
 * @param enabled Whether the dashboard is mounted, if somebody can sign in.
 * @param path Where it is mounted, below the path of the application.
 * @param users Who may sign in, by name; not together with an Authenticator bean.
 * @param local Whether browsers on this machine need not sign in; for development.
 * @param localRole What they may do.
 * @param hosts Names with ports under which browsers reach the application; without any, every name will do.
 * @param hide What nobody sees: words in the names of headers and of fields of JSON payloads.
 * @param showToViewers Headers whose values viewers see.
 */
@ConfigurationProperties("postrider.dashboard")
public record DashboardProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("/postrider") String path,
        @DefaultValue Map<String, User> users,
        @DefaultValue("false") boolean local,
        @DefaultValue("operator") Role localRole,
        @DefaultValue List<String> hosts,
        @DefaultValue List<String> hide,
        @DefaultValue List<String> showToViewers) {

    /** What a user may do; each may do what those before it may. */
    public enum Role {
        /** Looks, but sees neither payloads nor the values of headers. */
        VIEWER,
        /** Sees what events say; requeues, unholds, pauses and resumes. */
        OPERATOR,
        /** Edits and discards. */
        ADMIN
    }

    /**
     * Somebody who may sign in.
     *
     * @param role What the user may do.
     * @param password What the user signs in with, 12 characters or more.
     * @param token Instead of a password, for scripts: sent as Authorization: Bearer, 16 characters or more.
     */
    public record User(
            @DefaultValue("viewer") Role role,
            @Nullable String password,
            @Nullable String token) {

        /** Without its secrets. */
        @Override
        public String toString() {
            return "User[role=" + role + "]";
        }
    }
}
