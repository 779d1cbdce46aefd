// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/** An answer that goes on until the reader leaves: server-sent events. */
public record LiveAnswer(Map<String, String> headers, Body body) implements Answer {

    /** Writes for as long as somebody reads; blocks meanwhile. */
    public interface Body {
        void writeTo(OutputStream out) throws IOException;
    }

    @Override
    public int status() {
        return 200;
    }

    LiveAnswer with(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.putAll(more);
        return new LiveAnswer(all, body);
    }
}
