// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** What this library says of itself. Not from a manifest, which is lost where jars are merged. */
public final class Library {
    private static final String VERSION = read();

    private Library() {}

    /** Its version, such as {@code 1.2.3}. */
    public static String version() {
        return VERSION;
    }

    private static String read() {
        try (InputStream in = Library.class.getResourceAsStream("version.txt")) {
            if (in == null) {
                throw new IllegalStateException("Resource version.txt is missing from postrider-core");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("Resource version.txt cannot be read from postrider-core", e);
        }
    }
}
