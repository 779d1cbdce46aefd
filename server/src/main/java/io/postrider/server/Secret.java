// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The digest of a token or a password, compared in the same time wherever two differ. */
final class Secret {
    private final byte[] digest;

    private Secret(byte[] digest) {
        this.digest = digest;
    }

    static Secret of(String text) {
        return new Secret(sha256(text.getBytes(StandardCharsets.UTF_8)));
    }

    boolean matches(Secret other) {
        return MessageDigest.isEqual(digest, other.digest);
    }

    static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
