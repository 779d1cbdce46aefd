// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** One direction of a connection: what has been read and when it may be written. Used by the proxy's thread only. */
final class ProxyLane {
    private static final int CHUNK = 64 * 1024;
    private static final long QUEUE_LIMIT = 16L * 1024 * 1024;
    private static final long SECOND = 1_000_000_000L;
    /** Throttled, it reads in steps of a twentieth of a second and not further ahead than two of them. */
    private static final int STEPS = 20;

    private final Deque<Chunk> queue = new ArrayDeque<>();
    private long queued;
    private long freeAt;
    private boolean ended;
    private boolean finished;

    private record Chunk(ByteBuffer bytes, long due) {}

    boolean wantsRead(ProxyMode mode, long now) {
        return !ended && queued < QUEUE_LIMIT && (mode.bytesPerSecond() == 0 || freeAt - now < 2 * SECOND / STEPS);
    }

    boolean wantsWrite(long now) {
        Chunk head = queue.peek();
        return head != null && head.due - now <= 0;
    }

    /** Whether it waits for a time rather than for a socket. */
    boolean isTimed(ProxyMode mode, long now) {
        return (!queue.isEmpty() && !wantsWrite(now)) || (!ended && !wantsRead(mode, now) && queued < QUEUE_LIMIT);
    }

    /** Reads once, throwing away what comes if {@code drop}; returns how many bytes. */
    int read(SocketChannel source, ProxyMode mode, long now, boolean drop) throws IOException {
        long rate = mode.bytesPerSecond();
        int size = rate == 0 ? CHUNK : (int) Math.max(1, Math.min(CHUNK, rate / STEPS));
        ByteBuffer bytes = ByteBuffer.allocate(size);
        int count = source.read(bytes);
        if (count < 0) {
            ended = true;
        } else if (count > 0 && !drop) {
            queue.add(new Chunk(bytes.flip(), due(mode, now, count)));
            queued += count;
        }
        return Math.max(0, count);
    }

    private long due(ProxyMode mode, long now, int count) {
        if (mode.bytesPerSecond() == 0) {
            return now + mode.delayNanos();
        }
        long start = freeAt - now > 0 ? freeAt : now;
        freeAt = start + count * SECOND / mode.bytesPerSecond();
        return freeAt;
    }

    /** Writes what is due and, after the last of it, passes on the end of the stream. */
    void write(@Nullable SocketChannel target, long now) throws IOException {
        if (target == null || finished) {
            return;
        }
        while (wantsWrite(now)) {
            Chunk head = queue.element();
            queued -= target.write(head.bytes);
            if (head.bytes.hasRemaining()) {
                return;
            }
            queue.remove();
        }
        if (ended && queue.isEmpty()) {
            finished = true;
            target.shutdownOutput();
        }
    }

    /** Whether its source has ended and all has been written. */
    boolean isFinished() {
        return finished;
    }

    boolean hasEnded() {
        return ended;
    }
}
