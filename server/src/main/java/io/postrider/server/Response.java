// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.internal.Json;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An answer that is there as a whole. */
@SuppressWarnings("ArrayRecordComponent") // sent once, compared by nobody
public record Response(int status, Map<String, String> headers, byte[] body) implements Answer {

    static Response json(@Nullable Object value) {
        return json(200, "application/json", value);
    }

    static Response json(int status, String type, @Nullable Object value) {
        return new Response(
                status,
                Map.of("content-type", type + "; charset=utf-8"),
                Json.of(value).getBytes(StandardCharsets.UTF_8));
    }

    Response with(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.putAll(more);
        return new Response(status, all, body);
    }
}
