// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a browser or a script asks, whichever server took it.
 *
 * @param path as it was sent, with percent signs, without the query, from below where the handler is mounted: {@code
 *     /api/overview}
 * @param query its names and values, decoded; of a repeated name the first
 * @param headers by lower-case name
 * @param from the address that it came from, by which failed attempts to sign in are counted; empty if it is not known
 */
@SuppressWarnings("ArrayRecordComponent") // read once, compared by nobody
public record Request(
        String method, String path, Map<String, String> query, Map<String, String> headers, byte[] body, String from) {

    /** From an address that is not known. */
    public Request(String method, String path, Map<String, String> query, Map<String, String> headers, byte[] body) {
        this(method, path, query, headers, body, "");
    }

    /**
     * With a query as it was sent.
     *
     * @param rawQuery what is behind the question mark; null if there is none
     */
    public static Request of(
            String method,
            String path,
            @Nullable String rawQuery,
            Map<String, String> headers,
            byte[] body,
            String from) {
        Map<String, String> query = new LinkedHashMap<>();
        for (String pair : rawQuery == null ? new String[0] : rawQuery.split("&", -1)) {
            int equals = pair.indexOf('=');
            try {
                String name = URLDecoder.decode(equals < 0 ? pair : pair.substring(0, equals), StandardCharsets.UTF_8);
                String value = equals < 0 ? "" : URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8);
                query.putIfAbsent(name, value);
            } catch (IllegalArgumentException e) {
                // A stray percent sign: the pair says nothing.
            }
        }
        return new Request(method, path, query, headers, body, from);
    }

    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    Request below(String rest) {
        return new Request(method, rest, query, headers, body, from);
    }
}
