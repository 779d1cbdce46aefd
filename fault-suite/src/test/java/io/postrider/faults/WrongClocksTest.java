// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postrider.testkit.LedgerWriters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T49: the wall clocks of relays are wrong by up to a day. Needs libfaketime (Debian's package faketime). */
@Tag("T49")
@DisplayName("The clocks of relays are wrong")
class WrongClocksTest {
    private static final int WINDOW = 200;

    @Test
    void clocksThatAreWrongChangeNothing() throws IOException {
        Optional<Path> faketime = library();
        assumeTrue(faketime.isPresent(), "libfaketime is not installed");
        Map<String, Duration> clocks = new LinkedHashMap<>();
        clocks.put("+90s", Duration.ofSeconds(90));
        clocks.put("-45s", Duration.ofSeconds(-45));
        clocks.put("+86400s", Duration.ofDays(1));
        clocks.put("-86400s", Duration.ofDays(-1));
        try (Rig rig = Rig.on(SharedServers.get(), "T49 wrong clocks")) {
            Map<String, RelayChild> relays = new LinkedHashMap<>();
            clocks.forEach((offset, wrong) -> relays.put(
                    offset,
                    rig.start(
                            rig.quickRelay("relay" + offset).window(WINDOW),
                            Map.of(
                                    "LD_PRELOAD",
                                    faketime.get().toString(),
                                    "FAKETIME",
                                    offset,
                                    "FAKETIME_DONT_FAKE_MONOTONIC",
                                    "1",
                                    "DONT_FAKE_MONOTONIC",
                                    "1"))));
            relays.forEach((offset, relay) -> {
                Instant theirs = Instant.parse(relay.awaitStarted().awaitLine("wall clock "));
                Duration wrong = clocks.getOrDefault(offset, Duration.ZERO);
                assertThat(Duration.between(Instant.now().plus(wrong), theirs).abs())
                        .as("the clock of %s is wrong as intended", offset)
                        .isLessThan(Duration.ofSeconds(20));
            });
            rig.fault("wall clocks at " + String.join(", ", clocks.keySet()) + ", one relay killed");
            LedgerWriters writers = rig.start(rig.writers().rate(300).keys(60));
            Rig.await("events arrive", () -> rig.log().distinct() > 300);
            Instant killed = Instant.now();
            relays.values().iterator().next().kill();
            int before = rig.log().distinct();
            Rig.await("events arrive", () -> rig.log().distinct() > before + 500);
            rig.figure("first settled after the kill", rig.awaitSettled(killed));
            writers.stop();
            rig.assertSound(WINDOW);
            assertThat(rig.number("SELECT count(*) FROM outbox_attempt")).isZero();
        }
    }

    private static Optional<Path> library() throws IOException {
        Path directory = Path.of("/usr/lib");
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (Stream<Path> found = Files.find(
                directory,
                3,
                (path, attributes) -> path.getFileName().toString().equals("libfaketimeMT.so.1"))) {
            return found.findFirst();
        }
    }
}
