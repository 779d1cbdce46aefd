// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sends of one topic that no producer could take at once, in their order. Thread-safe. */
final class TopicProbe {
    private static final long FIRST_PAUSE_MILLIS = 1;
    private static final long LONGEST_PAUSE_MILLIS = 50;

    private final String topic;
    private final Deque<Send> waiting = new ArrayDeque<>();
    private boolean ended;
    private long pauseMillis = FIRST_PAUSE_MILLIS;
    private long movedAt = System.nanoTime();

    TopicProbe(String topic) {
        this.topic = topic;
    }

    String topic() {
        return topic;
    }

    /** Queues the send, unless this probe has ended: then the topic is free, or needs a new probe. */
    synchronized boolean add(Send send) {
        if (ended) {
            return false;
        }
        waiting.addLast(send);
        return true;
    }

    /** The send to try next; with none left the probe ends. */
    synchronized @Nullable Send head() {
        ended = ended || waiting.isEmpty();
        return waiting.peekFirst();
    }

    synchronized void removeHead() {
        waiting.removeFirst();
        pauseMillis = FIRST_PAUSE_MILLIS;
        movedAt = System.nanoTime();
    }

    /** Takes out those that have waited this long; none while the queue moves, as then its turn comes. */
    synchronized List<Send> expired(long nanos, long now) {
        List<Send> expired = new ArrayList<>();
        boolean stuck = now - movedAt >= nanos;
        while (stuck && !waiting.isEmpty() && waiting.peekFirst().waitingFor(nanos, now)) {
            expired.add(waiting.removeFirst());
        }
        return expired;
    }

    /** Ends the probe and takes out all that wait. */
    synchronized List<Send> end() {
        ended = true;
        List<Send> left = new ArrayList<>(waiting);
        waiting.clear();
        return left;
    }

    /** How long to wait before the next try: short at first, as a topic that exists is known within milliseconds. */
    synchronized long nextPauseMillis() {
        long pause = pauseMillis;
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
        return pause;
    }
}
