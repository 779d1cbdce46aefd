// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** Whatever is quoted in the log, one line of it is one thing that happened. */
class LogSettingsTest {
    private static final String FORGED = "no\n2026-01-01T00:00:00Z INFO  Relay - all is well\r\u001b[2K\u0085x";

    @Test
    void neitherAMessageNorAStackTraceForgesALine() {
        Exception thrown = new IllegalStateException(FORGED, new IllegalArgumentException(FORGED));
        List<String> lines = written(false, thrown);
        assertThat(lines.get(0)).endsWith("Relay - It failed: no");
        assertThat(lines)
                .filteredOn(each -> each.contains("all is well"))
                .hasSize(3)
                .containsOnly("    2026-01-01T00:00:00Z INFO  Relay - all is well??[2K?x");
        assertThat(lines)
                .contains("java.lang.IllegalStateException: no", "Caused by: java.lang.IllegalArgumentException: no")
                .anyMatch(each -> each.startsWith("\tat io.postrider.cli.log.LogSettingsTest."))
                .anyMatch(each -> each.matches("\t\\.\\.\\. \\d+ more"));
    }

    @Test
    void jsonHasOneLineForEach() {
        assertThat(written(true, new IllegalStateException(FORGED))).hasSize(1);
    }

    private static List<String> written(boolean json, Exception thrown) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        new LogSettings(json, Level.INFO, Map.of(), out)
                .write("io.postrider.relay.Relay", Level.WARN, "It failed: " + FORGED, thrown);
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
