// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** Where a database is, without what its URL says besides: that may be a password. */
record Address(String url) {
    private static final Pattern HOSTS = Pattern.compile("^jdbc:[^/]*//([^/?;]*)");
    private static final Pattern LOCAL =
            Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1]|\\[0:0:0:0:0:0:0:1])(:\\d+)?");

    /** Asks a connection. */
    static Address of(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return new Address(String.valueOf(connection.getMetaData().getURL()));
        } catch (SQLException e) {
            throw new OutboxException("The database of the outbox cannot be reached: " + e.getMessage(), e);
        }
    }

    /** Whether it is on this machine: every host of the URL is, or it names none. */
    boolean isLocal() {
        Matcher hosts = HOSTS.matcher(url.toLowerCase(Locale.ROOT));
        if (!hosts.find()) {
            // jdbc:postgresql:name is here; of any other form nothing is known.
            return url.startsWith("jdbc:postgresql:");
        }
        for (String host : hosts.group(1).split(",", -1)) {
            String name = host.substring(host.lastIndexOf('@') + 1);
            if (!name.isEmpty() && !LOCAL.matcher(name).matches()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return url.replaceAll("[?;].*", "").replaceAll("//[^/]*@", "//");
    }
}
