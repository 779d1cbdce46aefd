// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/**
 * How much a loop may have taken and not yet settled.
 *
 * @param rows events per stream
 * @param bytes payload bytes per stream, and with several streams four times that in all; one event is always allowed,
 *     however large
 */
public record Window(int rows, long bytes) {
    private static final int STREAMS = 4;
    /** So many times what is under way may be read ahead. */
    private static final int AHEAD = 16;

    public Window {
        if (rows < 1 || bytes < 1) {
            throw new IllegalArgumentException("A window of " + rows + " rows and " + bytes
                    + " bytes lets nothing through. Give 1 or more of both.");
        }
    }

    /** 8,000 events and 16 MiB. */
    public static Window ofDefaults() {
        return new Window(8_000, 16L << 20);
    }

    /** Not much more than a publisher can have under way: what waits for it could be another relay's. */
    Window forAtMost(int underWay) {
        return underWay < rows / AHEAD ? new Window(underWay * AHEAD, bytes) : this;
    }

    /**
     * What one read asks for: three quarters. The last quarter is under way meanwhile; more of it would only have to be
     * passed over by the read.
     */
    int batchRows() {
        return rows - rows / 4;
    }

    long batchBytes() {
        return bytes - bytes / 4;
    }

    /** So many answers are worth a commit of their own. */
    int settleRows() {
        return Math.max(1, rows / 4);
    }

    int totalRows() {
        return (int) Math.min((long) rows * STREAMS, Integer.MAX_VALUE);
    }

    long totalBytes() {
        return bytes > Long.MAX_VALUE / STREAMS ? Long.MAX_VALUE : bytes * STREAMS;
    }
}
