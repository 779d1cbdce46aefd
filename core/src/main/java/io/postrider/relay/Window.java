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

    /** What one read asks for: half, so that the other half is under way meanwhile. */
    int batchRows() {
        return Math.max(1, rows / 2);
    }

    long batchBytes() {
        return Math.max(1, bytes / 2);
    }

    int totalRows() {
        return (int) Math.min((long) rows * STREAMS, Integer.MAX_VALUE);
    }

    long totalBytes() {
        return bytes > Long.MAX_VALUE / STREAMS ? Long.MAX_VALUE : bytes * STREAMS;
    }
}
