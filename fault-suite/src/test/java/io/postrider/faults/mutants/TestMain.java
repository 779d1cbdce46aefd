// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import java.sql.SQLException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests in a JVM of their own. Prints {@code FAILED} with the name of a test and why for each that fails, {@code
 * BROKEN} instead if the database did not understand a statement, and {@code ENDED} with the number of those that passed.
 */
public final class TestMain {
    static final String FAILED = "FAILED ";
    static final String BROKEN = "BROKEN ";
    static final String ENDED = "ENDED ";
    private static final String WRONG_SQL = "42";
    /** Not allowed, or there already: what a mistake may well lead to, and no wrong text of a statement. */
    private static final Set<String> RIGHT_TEXT = Set.of("42501", "42P07", "42701");

    private TestMain() {}

    /** Takes classes, or methods as {@code Class#method}. */
    public static void main(String[] tests) {
        Set<String> wanted = Set.of(tests);
        PostDiscoveryFilter only = descriptor -> FilterResult.includedIf(isWanted(descriptor, wanted));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(tests)
                        .map(test -> test.replaceFirst("#.*", ""))
                        .distinct()
                        .map(DiscoverySelectors::selectClass)
                        .toList())
                .filters(only)
                .build();
        Listener listener = new Listener();
        LauncherFactory.create().execute(request, listener);
        System.out.println(ENDED + listener.passed);
    }

    private static boolean isWanted(TestDescriptor descriptor, Set<String> wanted) {
        if (descriptor.getSource().orElse(null) instanceof MethodSource method) {
            return wanted.contains(method.getClassName())
                    || wanted.contains(method.getClassName() + "#" + method.getMethodName());
        }
        return true;
    }

    private static final class Listener implements TestExecutionListener {
        private final AtomicInteger passed = new AtomicInteger();

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                Throwable failure = result.getThrowable().orElseGet(AssertionError::new);
                String line = String.valueOf(failure).strip().lines().collect(Collectors.joining(" "));
                System.out.println((cannotRun(failure) ? BROKEN : FAILED) + name(test) + " " + line);
            } else if (test.isTest()) {
                passed.incrementAndGet();
            }
        }

        private static boolean cannotRun(Throwable failure) {
            for (Throwable e = failure; e != null; e = e.getCause()) {
                if (e instanceof SQLException sql
                        && String.valueOf(sql.getSQLState()).startsWith(WRONG_SQL)
                        && !RIGHT_TEXT.contains(String.valueOf(sql.getSQLState()))) {
                    return true;
                }
            }
            return false;
        }

        private static String name(TestIdentifier test) {
            TestSource source = test.getSource().orElse(null);
            if (source instanceof MethodSource method) {
                return simple(method.getClassName()) + "." + method.getMethodName();
            }
            return source instanceof ClassSource type ? simple(type.getClassName()) : test.getDisplayName();
        }

        private static String simple(String className) {
            return className.substring(className.lastIndexOf('.') + 1);
        }
    }
}
