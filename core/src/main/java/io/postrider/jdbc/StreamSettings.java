// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

/**
 * What is stored with a stream: applies to whoever relays it.
 *
 * @param onDead what happens to a key, or to the stream, when one of its events is dead
 * @param history what is kept of delivered events
 */
public record StreamSettings(String name, OnDead onDead, History history) {

    public StreamSettings {
        if (name.isBlank()) {
            throw new IllegalArgumentException("A stream has an empty name. Give it one.");
        }
    }

    /** A dead event holds its key, and the history is kept. */
    public static StreamSettings of(String name) {
        return new StreamSettings(name, OnDead.HOLD_KEY, History.KEEP);
    }

    public StreamSettings withOnDead(OnDead onDead) {
        return new StreamSettings(name, onDead, history);
    }

    public StreamSettings withHistory(History history) {
        return new StreamSettings(name, onDead, history);
    }

    /** What a dead event means for those behind it. */
    public enum OnDead {
        /** Later events of its key wait until it is requeued or discarded. */
        HOLD_KEY,
        /** Later events of its key flow, each with a header that names the oldest dead one. */
        SKIP,
        /** The whole stream is paused until a person resumes it. */
        STOP_STREAM
    }

    /** What is kept of delivered events. */
    public enum History {
        KEEP,
        NO_PAYLOAD,
        OFF
    }
}
