// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The fault tests: JUnit tests whose tag is their id. */
final class Catalogue {
    private static final String ID = "T\\d\\d";

    /** One entry. */
    record Entry(String id, String title) {}

    private Catalogue() {}

    static List<Entry> all() {
        TestPlan plan = LauncherFactory.create().discover(request(Set.of()));
        Map<String, String> titles = new TreeMap<>();
        plan.getRoots()
                .forEach(root -> plan.getDescendants(root).forEach(test -> {
                    String id = id(test);
                    if (!id.isEmpty()) {
                        // A class comes before its methods; where a class has an id, it has the title too.
                        titles.putIfAbsent(id, test.getDisplayName());
                    }
                }));
        return titles.entrySet().stream()
                .map(entry -> new Entry(entry.getKey(), entry.getValue()))
                .toList();
    }

    static Set<String> ids() {
        return all().stream().map(Entry::id).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Runs them, and says after each whether it held. */
    static Table play(Set<String> ids) {
        Launcher launcher = LauncherFactory.create();
        Listener listener = new Listener();
        launcher.execute(request(ids), listener);
        return listener.table;
    }

    private static LauncherDiscoveryRequest request(Set<String> ids) {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectPackage(Catalogue.class.getPackageName()));
        if (!ids.isEmpty()) {
            request.filters(TagFilter.includeTags(List.copyOf(ids)));
        }
        return request.build();
    }

    private static String id(TestIdentifier test) {
        return test.getTags().stream()
                .map(TestTag::getName)
                .filter(tag -> tag.matches(ID))
                .min(Comparator.naturalOrder())
                .orElse("");
    }

    private static final class Listener implements TestExecutionListener {
        private final Table table = new Table();
        private final Map<String, Long> startedAt = new HashMap<>();

        @Override
        public synchronized void executionStarted(TestIdentifier test) {
            startedAt.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                table.skipped();
                String why = result.getThrowable().map(Throwable::getMessage).orElse("");
                System.out.println("SKIPPED " + id(test) + " " + test.getDisplayName() + ": " + why);
                return;
            }
            boolean failed = result.getStatus() != TestExecutionResult.Status.SUCCESSFUL;
            if (!test.isTest() && !failed) {
                return;
            }
            Duration took =
                    Duration.ofNanos(System.nanoTime() - startedAt.getOrDefault(test.getUniqueId(), System.nanoTime()));
            table.add(id(test), test.getDisplayName(), took, !failed);
            if (failed) {
                System.out.println("FAILED " + id(test) + " " + test.getDisplayName());
                result.getThrowable().ifPresent(failure -> failure.printStackTrace(System.out));
            }
        }
    }
}
