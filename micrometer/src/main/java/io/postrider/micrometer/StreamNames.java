// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Names of streams for whoever may keep a bounded number of them, since streams may be named by data. Thread-safe. */
public final class StreamNames {
    static final String OTHERS = "other";

    private final Set<String> own = ConcurrentHashMap.newKeySet();
    private final int most;

    /**
     * Knows no stream yet.
     *
     * @param most how many streams keep their names; the rest share one
     */
    public StreamNames(int most) {
        this.most = most;
    }

    /** The name of the stream, or that of all others. */
    public String of(String stream) {
        // Two at once may make it one more, which does no harm.
        if (own.contains(stream) || (own.size() < most && own.add(stream))) {
            return stream;
        }
        return own.contains(stream) ? stream : OTHERS;
    }
}
