// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.server.Authenticator;
import io.postrider.server.BasicAuthenticator;
import io.postrider.server.Request;
import io.postrider.server.Role;
import io.postrider.server.TokenAuthenticator;
import io.postrider.server.User;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The users that the settings name: some sign in with a password, some send a token. */
record SignIn(Optional<BasicAuthenticator> passwords, TokenAuthenticator tokens) implements Authenticator {

    static SignIn of(Map<String, DashboardProperties.User> users) {
        BasicAuthenticator passwords = BasicAuthenticator.empty();
        boolean anyPassword = false;
        Map<String, User> tokens = new HashMap<>();
        try {
            for (Map.Entry<String, DashboardProperties.User> each : users.entrySet()) {
                String name = each.getKey();
                DashboardProperties.User given = each.getValue();
                String password = given.password();
                String token = given.token();
                if ((password == null) == (token == null)) {
                    throw new IllegalArgumentException("The user " + name + " has "
                            + (password == null ? "neither a password nor a token" : "a password and a token")
                            + ". Give one of them.");
                }
                User user = new User(name, role(given.role()));
                if (password != null) {
                    passwords = passwords.user(name, password, user.role());
                    anyPassword = true;
                } else if (token != null && tokens.putIfAbsent(token, user) != null) {
                    throw new IllegalArgumentException(
                            "The user " + name + " has the same token as another one. Give each their own.");
                }
            }
            return new SignIn(anyPassword ? Optional.of(passwords) : Optional.empty(), TokenAuthenticator.of(tokens));
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    "Nobody can sign in to the dashboard as it is set up: " + e.getMessage(),
                    "Change the settings under postrider.dashboard.users.",
                    e);
        }
    }

    static Role role(DashboardProperties.Role role) {
        return switch (role) {
            case VIEWER -> Role.VIEWER;
            case OPERATOR -> Role.OPERATOR;
            case ADMIN -> Role.ADMIN;
        };
    }

    @Override
    public Optional<User> authenticate(Request request) {
        return tokens.authenticate(request).or(() -> passwords.flatMap(each -> each.authenticate(request)));
    }

    /** Browsers ask for names and passwords if there are any: tokens are for scripts then. */
    @Override
    public String scheme() {
        return passwords.map(Authenticator::scheme).orElseGet(tokens::scheme);
    }
}
