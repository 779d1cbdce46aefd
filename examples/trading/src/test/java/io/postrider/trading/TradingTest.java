// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The example as a user starts it, in a JVM of its own. */
@Timeout(600)
class TradingTest {
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @ParameterizedTest
    @ValueSource(strings = {"", "--chaos", "--kafka --chaos"})
    void allBooksAgree(String how) {
        try (ChildJvm trading = trading((how + " --orders 40").strip().split(" ", -1))) {
            assertThat(trading.awaitExit(LIMIT)).as("%s", trading.lines()).hasValue(0);
            assertThat(trading.lines())
                    .contains("  ✓ 44 orders have one final state")
                    .contains("  ✓ 4 orders came after the kill switch, and are halted")
                    .contains("  ✓ 0 identifiers were sent to the exchange twice")
                    .contains("  ✓ 64 orders and backtests were notified")
                    .noneMatch(line -> line.contains("✗"));
            assertThat(trading.lines().stream()
                            .anyMatch(line -> line.matches("  [1-9][0-9]* workers were killed with -9")))
                    .isEqualTo(how.contains("--chaos"));
            // Some were in doubt, or the way back from there was not gone.
            assertThat(trading.lines()).anyMatch(line -> line.contains("NEVER_ARRIVED"));
        }
    }

    @Test
    void badArgumentsAreExplained() {
        try (ChildJvm trading = trading("--orders", "none")) {
            assertThat(trading.awaitExit(LIMIT)).hasValue(2);
            assertThat(trading.lines())
                    .startsWith(
                            "--orders needs a whole number from 1 to 100000, not none.",
                            "",
                            "Usage: ./trading [options]");
        }
    }

    @Test
    void theCommandOfAnAttemptIsReadBackAsItWas() {
        Messages.Attempt attempt = new Messages.Attempt("order-7", 3);
        byte[] payload = Objects.requireNonNull(attempt.place(Duration.ZERO).payload());
        assertThat(Messages.Attempt.parse(payload)).isEqualTo(attempt);
        assertThat(attempt.clientId()).isEqualTo("order-7-3");
    }

    private static ChildJvm trading(String... args) {
        List<String> options = List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
        Path log = Path.of("target", "trading-" + String.join("", args).replace("-", "") + ".log");
        return ChildJvm.of(Trading.class)
                .jvmOptions(options.toArray(String[]::new))
                .jvmOptions("-Dtrading.log=" + log)
                .args(args)
                .start();
    }
}
