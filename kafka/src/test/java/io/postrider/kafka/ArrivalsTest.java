// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
    private static final Set<TopicPartition> PARTITION = Set.of(new TopicPartition("t", 0));

    private final Arrivals arrivals = new Arrivals(new ReceivedEvents(Map.of()), now -> true, 100);

    @Test
    void aHandOverWaitsForWhatHasBeenStartedAndForNothingElse() throws InterruptedException {
        List<Delivery> taken = taken("a", "b");
        assertThat(taken.get(0).mayStart(0)).isTrue();
        arrivals.revoke(PARTITION);
        assertThat(arrivals.awaitFinished(PARTITION, Duration.ZERO)).isFalse();
        arrivals.finish(taken.subList(0, 1));
        assertThat(arrivals.awaitFinished(PARTITION, Duration.ZERO)).isTrue();
        assertThat(taken.get(1).mayStart(0)).isFalse();
        assertThat(arrivals.awaitFinished(PARTITION, Duration.ZERO)).isTrue();
        assertThat(arrivals.committable().values())
                .singleElement()
                .satisfies(offset -> assertThat(offset.offset()).isEqualTo(1));
    }

    @Test
    void whatIsTakenOnceMoreHasNotBeenStarted() throws InterruptedException {
        List<Delivery> taken = taken("a");
        assertThat(taken.get(0).mayStart(0)).isTrue();
        arrivals.release(taken);
        assertThat(arrivals.take(Demand.of(10, 1000, Set.of()), 0).deliveries()).hasSize(1);
        arrivals.revoke(PARTITION);
        assertThat(arrivals.awaitFinished(PARTITION, Duration.ZERO)).isTrue();
    }

    @Test
    void aRecordLeavesForTheDeadUntilItsPartitionIsAnothers() {
        List<Delivery> taken = taken("a", "b", "c");
        arrivals.revoke(PARTITION);
        assertThat(arrivals.leave(taken.get(0))).isPresent();
        assertThat(arrivals.retry(taken.get(1), 0)).isFalse();
        arrivals.forget(PARTITION);
        assertThat(arrivals.leave(taken.get(2))).isEmpty();
        assertThat(arrivals.taken()).isZero();
    }

    @Test
    void aPartitionStandsAtItsOldestUnfinishedRecordAlsoIfThatIsCommitted() {
        arrivals.assign(PARTITION);
        assertThat(arrivals.standingOfOne()).as("before any has come").isEmpty();
        List<Delivery> taken = taken("a", "b");
        assertThat(stand()).isEqualTo(0);
        assertThat(arrivals.committable()).isEmpty();
        arrivals.finish(taken.subList(0, 1));
        assertThat(stand()).isEqualTo(1);
        arrivals.committed(arrivals.standingOfOne());
        assertThat(arrivals.committable()).isEmpty();
        assertThat(stand()).isEqualTo(1);
        assertThat(arrivals.isWaitedFor()).isTrue();
        arrivals.finish(taken);
        assertThat(stand()).isEqualTo(2);
        assertThat(arrivals.isWaitedFor()).isFalse();
    }

    @Test
    void eachTimeAnotherPartitionIsAskedFor() {
        Set<TopicPartition> two = Set.of(new TopicPartition("t", 0), new TopicPartition("gone", 0));
        arrivals.assign(two);
        two.forEach(each -> arrivals.add(
                List.of(new ConsumerRecord<>(each.topic(), each.partition(), 0, new byte[0], new byte[0]))));
        Set<TopicPartition> asked = new HashSet<>(arrivals.standingOfOne().keySet());
        asked.addAll(arrivals.standingOfOne().keySet());
        assertThat(asked).isEqualTo(two);
    }

    private long stand() {
        return arrivals.standingOfOne().values().iterator().next().offset();
    }

    private List<Delivery> taken(String... keys) {
        arrivals.assign(PARTITION);
        for (int i = 0; i < keys.length; i++) {
            byte[] key = keys[i].getBytes(StandardCharsets.UTF_8);
            arrivals.add(List.of(new ConsumerRecord<>("t", 0, i, key, key)));
        }
        return arrivals.take(Demand.of(10, 1000, Set.of()), 0).deliveries();
    }
}
