// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/** Finds loggers for slf4j, and says what they write and where. Thread-safe. */
public final class LineLogs implements SLF4JServiceProvider, ILoggerFactory {
    /** One process has one log; slf4j makes the provider itself. */
    private static volatile LogSettings settings = LogSettings.forCommands();

    private static final Map<String, LineLogger> LOGGERS = new ConcurrentHashMap<>();

    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter mdc = new BasicMDCAdapter();

    /** From now on for all loggers, also those that are there. */
    public static synchronized void use(LogSettings changed) {
        settings = changed;
        LOGGERS.values().forEach(each -> each.threshold(changed.levelOf(each.getName())));
    }

    static void write(String logger, Level level, String message, @Nullable Throwable thrown) {
        settings.write(logger, level, message, thrown);
    }

    @Override
    public Logger getLogger(String name) {
        LineLogger logger = LOGGERS.computeIfAbsent(name, LineLogger::new);
        logger.threshold(settings.levelOf(name));
        return logger;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return this;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return mdc;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {
        // Nothing is read: what differs from the defaults is told by use.
    }
}
