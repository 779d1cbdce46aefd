// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.cli.config.ServeConfig;
import io.postrider.server.Authenticator;
import io.postrider.server.BasicAuthenticator;
import io.postrider.server.Request;
import io.postrider.server.TokenAuthenticator;
import io.postrider.server.User;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Knows people by name and password, and machines by tokens, or one of both. Thread-safe. */
final class SignIn implements Authenticator {
    private final Authenticator tokens;
    private final Authenticator passwords;
    private final String scheme;

    SignIn(ServeConfig.Auth auth) {
        Map<String, User> users = new LinkedHashMap<>();
        auth.tokens().forEach(each -> users.put(each.secret(), new User(each.name(), each.role())));
        tokens = TokenAuthenticator.of(users);
        BasicAuthenticator basic = BasicAuthenticator.empty();
        for (ServeConfig.Person each : auth.basic()) {
            basic = basic.user(each.name(), each.secret(), each.role());
        }
        passwords = basic;
        // The dashboard's form asks people: for a password, if anybody has one.
        scheme = (auth.basic().isEmpty() ? tokens : passwords).scheme();
    }

    @Override
    public Optional<User> authenticate(Request request) {
        return tokens.authenticate(request).or(() -> passwords.authenticate(request));
    }

    @Override
    public String scheme() {
        return scheme;
    }
}
