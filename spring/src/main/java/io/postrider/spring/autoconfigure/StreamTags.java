// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Streams as tags of meters; a bounded number of them, since streams may be named by data. Thread-safe. */
final class StreamTags {
    static final String NAME = "stream";
    static final String OTHERS = "other";

    private final Set<String> own = ConcurrentHashMap.newKeySet();
    private final int most;

    StreamTags(int most) {
        this.most = most;
    }

    String of(String stream) {
        if (own.contains(stream)) {
            return stream;
        }
        // Two at once may make it one more, which does no harm.
        if (own.size() < most) {
            own.add(stream);
            return stream;
        }
        return OTHERS;
    }
}
