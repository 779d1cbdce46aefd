// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.internal.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The files for Prometheus and Grafana can be read, and ask for meters that exist. */
class MonitoringFilesTest {
    private static final Set<String> METERS = Set.of(
            "outbox_events_pending",
            "outbox_events_dead",
            "outbox_events_oldest_pending_seconds",
            "outbox_events_published_total",
            "outbox_events_failed_total",
            "outbox_events_dead_letter_total",
            "outbox_events_processing_time_seconds_sum",
            "outbox_events_processing_time_seconds_count");

    @Test
    void theRulesAreRules() throws IOException {
        Map<?, ?> file = new Yaml().load(read("alert-rules.yml"));
        Map<?, ?> group = (Map<?, ?>) list(file, "groups").get(0);
        assertThat(list(group, "rules"))
                .hasSize(4)
                .allSatisfy(rule -> assertThat(((Map<?, ?>) rule).keySet().toString())
                        .contains("alert", "expr", "labels", "annotations"));
    }

    @Test
    void theDashboardHasPanelsThatAskForSomething() throws IOException {
        Map<?, ?> dashboard = (Map<?, ?>) Objects.requireNonNull(JsonReader.read(read("grafana-dashboard.json")));
        assertThat(list(dashboard, "panels"))
                .hasSize(6)
                .allSatisfy(panel ->
                        assertThat(list((Map<?, ?>) panel, "targets")).isNotEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"alert-rules.yml", "grafana-dashboard.json"})
    void theyAskForTheMetersOfTheStarterAndNoOthers(String file) throws IOException {
        List<String> asked = Pattern.compile("outbox_[a-z_]+")
                .matcher(read(file))
                .results()
                .map(found -> found.group())
                .toList();
        assertThat(asked).isNotEmpty();
        assertThat(METERS).containsAll(asked);
    }

    private static List<?> list(Map<?, ?> map, String name) {
        return (List<?>) Objects.requireNonNull(map.get(name));
    }

    private static String read(String name) throws IOException {
        // These tests run in two modules, of which one is a folder deeper.
        Path file = Path.of("..", "docs", "monitoring", name);
        return Files.readString(Files.exists(file) ? file : Path.of("..").resolve(file));
    }
}
