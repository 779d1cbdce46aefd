// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

/** What a proxy has been told to do; a delay or a rate of 0 is none. */
record ProxyMode(Kind kind, long delayNanos, long bytesPerSecond) {
    enum Kind {
        PASS,
        REFUSE,
        BLACK_HOLE,
        SWALLOW_REPLIES,
        HALF_OPEN
    }

    static ProxyMode of(Kind kind) {
        return new ProxyMode(kind, 0, 0);
    }

    boolean is(Kind other) {
        return kind == other;
    }
}
