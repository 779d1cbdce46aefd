// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.util.Map;
import java.util.Optional;

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

    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }

    Request below(String rest) {
        return new Request(method, rest, query, headers, body, from);
    }
}
