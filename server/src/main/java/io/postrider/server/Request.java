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
 */
@SuppressWarnings("ArrayRecordComponent") // read once, compared by nobody
public record Request(String method, String path, Map<String, String> query, Map<String, String> headers, byte[] body) {

    public Optional<String> header(String name) {
        return Optional.ofNullable(headers.get(name));
    }
}
