// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import java.sql.SQLException;
import java.util.regex.Pattern;

/** What others say in their errors, as far as it may be logged and stored. */
public final class Discretion {
    private static final Pattern ASSIGNED = Pattern.compile(
            "(?i)(password|passwd|passphrase|secret|token|credentials?)([\"']\\s*:|\\s*=)\\s*(\"[^\"]*\"|'[^']*'|[^\\s&;,)}]+)");
    private static final Pattern IN_ADDRESS = Pattern.compile("://[^/@\\s]+@");

    private Discretion() {}

    /** The first line alone: in those behind it PostgreSQL quotes the row, with its payload and its headers. */
    public static String firstLine(SQLException e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    /** The text without what stands in the place of a password: in a URL, a property, a login line or an object. */
    public static String withoutCredentials(String text) {
        String safe = ASSIGNED.matcher(text).replaceAll("$1$2[hidden]");
        return IN_ADDRESS.matcher(safe).replaceAll("://[hidden]@");
    }
}
