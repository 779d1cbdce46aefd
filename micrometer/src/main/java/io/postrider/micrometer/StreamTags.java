// SPDX-License-Identifier: Apache-2.0
package io.postrider.micrometer;

import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Streams as tags of meters; a bounded number of them, since streams may be named by data. Thread-safe. */
public final class StreamTags {
    static final String NAME = "stream";

    private final Map<String, Tags> own = new ConcurrentHashMap<>();
    private final StreamNames names;
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
        names = new StreamNames(most);
        this.always = always;
    }

    Tags of(String stream) {
        return own.computeIfAbsent(names.of(stream), name -> always.and(NAME, name));
    }
}
