// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Knows users by a secret token that they send as {@code Authorization: Bearer …}. Thread-safe. */
public final class TokenAuthenticator implements Authenticator {
    private static final int SHORTEST = 16;

    private record Known(Secret token, User user) {}

    private final List<Known> known = new ArrayList<>();

    private TokenAuthenticator(Map<String, User> users) {
        users.forEach((token, user) -> {
            if (token.length() < SHORTEST) {
                throw new IllegalArgumentException("The token of " + user.name() + " has " + token.length()
                        + " characters and can be guessed. Give it " + SHORTEST + " or more.");
            }
            known.add(new Known(Secret.of(token), user));
        });
    }

    /**
     * Knows these.
     *
     * @param users by their tokens
     */
    public static TokenAuthenticator of(Map<String, User> users) {
        return new TokenAuthenticator(users);
    }

    @Override
    public Optional<User> authenticate(Request request) {
        String given = request.header("authorization").orElse("");
        if (!given.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return Optional.empty();
        }
        Secret token = Secret.of(given.substring(7).strip());
        User found = null;
        // All are compared, whichever matches: the time tells nothing.
        for (Known each : known) {
            if (each.token().matches(token)) {
                found = each.user();
            }
        }
        return Optional.ofNullable(found);
    }

    @Override
    public String scheme() {
        return "Bearer";
    }
}
