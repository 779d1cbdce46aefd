// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Streams as tags of meters; a bounded number of them, since streams may be named by data. Thread-safe. */
public final class StreamTags {
    static final String NAME = "stream";
    static final String OTHERS = "other";

    private final Map<String, Tags> own = new ConcurrentHashMap<>();
    private final int most;
    private final Tags always;

    /**
     * No tag but the stream.
     *
     * @param most how many streams get a tag of their own; the rest share one
     */
    public StreamTags(int most) {
        this(most, Tags.empty());
    }

    /**
     * Other tags besides.
     *
     * @param always what all meters are tagged with besides, such as the database
     */
    public StreamTags(int most, Tags always) {
        this.most = most;
        this.always = always;
    }

    Tags of(String stream) {
        Tags known = own.get(stream);
        if (known != null) {
            return known;
        }
        // Two at once may make it one more, which does no harm.
        if (own.size() < most) {
            return own.computeIfAbsent(stream, name -> always.and(NAME, name));
        }
        return always.and(NAME, OTHERS);
    }
}
