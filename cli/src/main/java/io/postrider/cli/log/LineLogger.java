// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.log;

import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** Passes on what is important enough. Thread-safe. */
final class LineLogger extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1;

    private volatile int threshold = Level.WARN.toInt();

    LineLogger(String name) {
        this.name = name;
    }

    void threshold(int threshold) {
        this.threshold = threshold;
    }

    private boolean writes(Level level) {
        return level.toInt() >= threshold;
    }

    @Override
    protected void handleNormalizedLoggingCall(
            Level level,
            @Nullable Marker marker,
            @Nullable String message,
            Object @Nullable [] arguments,
            @Nullable Throwable thrown) {
        LineLogs.write(getName(), level, String.valueOf(MessageFormatter.basicArrayFormat(message, arguments)), thrown);
    }

    @Override
    protected @Nullable String getFullyQualifiedCallerName() {
        return null;
    }

    @Override
    public boolean isTraceEnabled() {
        return writes(Level.TRACE);
    }

    @Override
    public boolean isDebugEnabled() {
        return writes(Level.DEBUG);
    }

    @Override
    public boolean isInfoEnabled() {
        return writes(Level.INFO);
    }

    @Override
    public boolean isWarnEnabled() {
        return writes(Level.WARN);
    }

    @Override
    public boolean isErrorEnabled() {
        return writes(Level.ERROR);
    }
}
