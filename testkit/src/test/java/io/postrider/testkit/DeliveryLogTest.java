// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeliveryLogTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void aFileKeepsWhatSeveralProcessesRecordedBeforeTheyWereKilled(@TempDir Path directory) {
        Path file = directory.resolve("deliveries");
        try (DeliveryLog log = DeliveryLog.inFile(file);
                ChildJvm first =
                        ChildJvm.of(Recorder.class).args(file.toString(), "a").start();
                ChildJvm second =
                        ChildJvm.of(Recorder.class).args(file.toString(), "b").start()) {
            first.awaitLine("1000"::equals, LONG);
            second.awaitLine("1000"::equals, LONG);
            first.kill();
            second.kill();
            int recorded = log.size();
            OutboxEvent own = OutboxEvent.of("s", "T").text("mine").build();
            log.record(own);

            assertThat(log.entries()).hasSize(recorded + 1);
            assertThat(recorded).isGreaterThanOrEqualTo(2_000);
            assertThat(log.distinct()).isEqualTo(recorded + 1);
            for (String key : List.of("a", "b")) {
                assertThat(log.entries().stream()
                                .filter(entry -> entry.key().equals(key))
                                .map(DeliveryLog.Entry::seq))
                        .isSorted()
                        .hasSizeGreaterThanOrEqualTo(1_000);
            }
            DeliveryLog.Entry last = log.entries().get(recorded);
            assertThat(last.eventId()).isEqualTo(own.id());
            assertThat(last.key()).isEqualTo("?");
            assertThat(last.seq()).isEqualTo(-1);
        }
    }

    @Test
    void aLineThatIsJustBeingWrittenIsLeftUntilItIsComplete(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("deliveries");
        try (DeliveryLog log = DeliveryLog.inFile(file)) {
            log.record(OutboxEvent.of("s", "T").text("one").build());
            String line = Files.readString(file);
            Files.writeString(file, line.substring(0, 50), StandardOpenOption.APPEND);
            assertThat(log.size()).isEqualTo(1);
            Files.writeString(file, line.substring(50), StandardOpenOption.APPEND);

            assertThat(log.size()).isEqualTo(2);
            assertThat(log.distinct()).isEqualTo(1);
            assertThat(log.entries().get(0)).isEqualTo(log.entries().get(1));
        }
    }

    @Test
    void aLineThatAKillCutOffIsNoDeliveryAndSpoilsNoOther(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("deliveries");
        try (DeliveryLog log = DeliveryLog.inFile(file)) {
            log.record(OutboxEvent.of("s", "T").text("one").build());
            String line = Files.readString(file);
            for (int cut = 1; cut < line.length() - 1; cut++) {
                Files.writeString(file, line.substring(0, cut), StandardOpenOption.APPEND);
                log.record(OutboxEvent.of("s", "T").text("two").build());
                assertThat(log.size()).as("cut off after %s", cut).isEqualTo(cut + 1);
            }
        }
    }

    @Test
    void itsPublisherRecordsAndTakesEverything() {
        DeliveryLog log = DeliveryLog.inMemory();
        OutboxEvent tombstone = OutboxEvent.of("s", "T").tombstone().build();
        OutboxEvent empty = OutboxEvent.of("s", "T").text("").build();
        try (Publisher publisher = log.publisher()) {
            assertThat(publisher.publish(tombstone)).isCompleted();
            assertThat(publisher.publish(empty)).isCompleted();
        }

        assertThat(log.entries()).extracting(DeliveryLog.Entry::eventId).containsExactly(tombstone.id(), empty.id());
        assertThat(log.entries().get(0).payloadHash())
                .isNotEqualTo(log.entries().get(1).payloadHash());
    }

    static final class Recorder {
        public static void main(String[] args) {
            DeliveryLog log = DeliveryLog.inFile(Path.of(args[0]));
            for (long seq = 1; ; seq++) {
                String payload = new LedgerPayload(args[1], seq, "x".repeat(50)).json();
                log.record(OutboxEvent.of("s", "T")
                        .id(UUID.randomUUID())
                        .json(payload)
                        .build());
                if (seq % 1_000 == 0) {
                    System.out.println(seq);
                }
            }
        }
    }
}
