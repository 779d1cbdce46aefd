// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** Knows users by name and password. Without TLS in front of it everybody on the way reads them. Immutable, thread-safe. */
public final class BasicAuthenticator implements Authenticator {
    private static final int SHORTEST = 12;

    private record Known(Secret nameAndPassword, User user) {}

    private final List<Known> known;

    private BasicAuthenticator(List<Known> known) {
        this.known = known;
    }

    /** Knows nobody yet. */
    public static BasicAuthenticator empty() {
        return new BasicAuthenticator(List.of());
    }

    public BasicAuthenticator user(String name, String password, Role role) {
        if (name.contains(":")) {
            throw new IllegalArgumentException(
                    "The user name " + name + " has a colon, which ends it. Choose another.");
        }
        if (password.length() < SHORTEST) {
            throw new IllegalArgumentException("The password of " + name + " has " + password.length()
                    + " characters and can be guessed. Give it " + SHORTEST + " or more.");
        }
        List<Known> more = new ArrayList<>(known);
        more.add(new Known(Secret.of(name + ":" + password), new User(name, role)));
        return new BasicAuthenticator(List.copyOf(more));
    }

    @Override
    public Optional<User> authenticate(Request request) {
        String given = request.header("authorization").orElse("");
        if (!given.regionMatches(true, 0, "Basic ", 0, 6)) {
            return Optional.empty();
        }
        Secret secret;
        try {
            byte[] decoded = Base64.getDecoder().decode(given.substring(6).strip());
            secret = Secret.of(new String(decoded, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        User found = null;
        for (Known each : known) {
            if (each.nameAndPassword().matches(secret)) {
                found = each.user();
            }
        }
        return Optional.ofNullable(found);
    }

    @Override
    public String scheme() {
        return "Basic";
    }
}
