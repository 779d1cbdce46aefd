// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RelayLifeTest {
    private final FakeFeed feed = new FakeFeed();
    private final AtomicInteger closes = new AtomicInteger();
    private final List<OutboxEvent> sent = new CopyOnWriteArrayList<>();
    private volatile Function<OutboxEvent, CompletionStage<?>> answer = e -> CompletableFuture.completedFuture(null);

    private final Publisher publisher = new Publisher() {
        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            sent.add(event);
            return answer.apply(event);
        }

        @Override
        public void close() {
            closes.incrementAndGet();
        }
    };

    @Test
    void aRelayDeliversUntilItIsClosedAndThenLeaves() throws InterruptedException {
        CountDownLatch three = new CountDownLatch(3);
        Relay relay = relay().listener(new RelayListener() {
                    @Override
                    public void published(OutboxEvent event, Duration took) {
                        three.countDown();
                    }
                })
                .build();
        appendThree();
        relay.start();
        assertThat(three.await(20, TimeUnit.SECONDS)).isTrue();
        relay.close();
        assertThat(relay.publishedCount()).isEqualTo(3);
        assertThat(relay.inFlight()).isZero();
        assertThat(relay.name()).isEqualTo("r");
        assertThat(feed.asked).containsExactly("join r with 1 loops", "intake 0", "leave");
        assertThat(feed.first.closed).isTrue();
        assertThat(closes).hasValue(1);
    }

    @Test
    void itCannotBeStartedTwice() {
        try (Relay relay = relay().build()) {
            relay.start();
            assertThatThrownBy(relay::start)
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("Relay r is running and cannot be started again. Build a new one.");
            assertThatThrownBy(() -> relay.drain(1))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("Relay r is running and cannot be started again. Build a new one.");
        }
        assertThat(feed.asked).containsOnlyOnce("leave");
    }

    @Test
    void aClosedRelayCannotBeStarted() {
        Relay relay = relay().build();
        relay.close();
        relay.close();
        assertThat(closes).as("the publisher is closed once").hasValue(1);
        assertThatThrownBy(relay::start)
                .isInstanceOf(OutboxException.class)
                .hasMessage("Relay r is closed and cannot be started again. Build a new one.");
        assertThat(feed.asked).isEmpty();
    }

    @Test
    void whatDoesNotRunCannotBePaused() {
        Relay relay = relay().build();
        assertThatThrownBy(relay::pause)
                .isInstanceOf(OutboxException.class)
                .hasMessage("Relay r is not running. Start it first.");
        assertThatThrownBy(relay::resume)
                .isInstanceOf(OutboxException.class)
                .hasMessage("Relay r is not running. Start it first.");
        relay.start();
        relay.close();
        assertThatThrownBy(relay::pause).isInstanceOf(OutboxException.class);
    }

    @Test
    void pausingGivesTheShareAwayAndResumingAsksForItAgain() {
        try (Relay relay = relay().build()) {
            relay.start();
            relay.pause();
            relay.resume();
        }
        assertThat(feed.asked).containsExactly("join r with 1 loops", "intake 0", "wants false", "wants true", "leave");
    }

    @Test
    void aStartThatFailedMayBeRepeated() {
        try (Relay relay = relay().build()) {
            feed.failing = true;
            assertThatThrownBy(relay::start).isInstanceOf(FeedException.class).hasMessage("The table is out of reach");
            feed.failing = false;
            relay.start();
            assertThat(feed.asked).containsExactly("join r with 1 loops", "intake 0");
        }
    }

    @Test
    void closingWaitsForAnAnswerAndSettlesIt() throws InterruptedException {
        CompletableFuture<Void> slow = new CompletableFuture<>();
        CountDownLatch underWay = new CountDownLatch(1);
        answer = event -> {
            underWay.countDown();
            return slow;
        };
        Relay relay = relay().build();
        feed.first.append("s", "a");
        relay.start();
        assertThat(underWay.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(relay.inFlight()).isEqualTo(1);
        Thread closer = new Thread(relay::close);
        closer.start();
        slow.complete(null);
        closer.join(20_000);
        assertThat(closer.isAlive()).isFalse();
        assertThat(feed.first.settled).containsExactly(1L);
    }

    @Test
    void closingDoesNotWaitLongerThanTheStopTime() throws InterruptedException {
        CountDownLatch underWay = new CountDownLatch(1);
        answer = event -> {
            underWay.countDown();
            return new CompletableFuture<>();
        };
        Relay relay = relay().stopTime(Duration.ofMillis(100)).build();
        feed.first.append("s", "a");
        relay.start();
        assertThat(underWay.await(20, TimeUnit.SECONDS)).isTrue();
        long before = System.nanoTime();
        relay.close();
        assertThat(Duration.ofNanos(System.nanoTime() - before))
                .isBetween(Duration.ofMillis(100), Duration.ofSeconds(10));
        assertThat(feed.asked).endsWith("leave");
        assertThat(feed.first.settled).isEmpty();
        assertThat(closes).hasValue(1);
    }

    @Test
    void everyLoopHasAnIntakeOfItsOwn() {
        try (Relay relay = relay().loops(3).build()) {
            relay.start();
        }
        assertThat(feed.asked).containsExactly("join r with 3 loops", "intake 0", "intake 1", "intake 2", "leave");
    }

    @Test
    void aBugInThePublisherDoesNotEndTheRelay() throws InterruptedException {
        CountDownLatch second = new CountDownLatch(1);
        answer = event -> {
            if (sent.size() == 1) {
                throw new AssertionError("a bug");
            }
            second.countDown();
            return CompletableFuture.completedFuture(null);
        };
        try (Relay relay = relay().stopTime(Duration.ofMillis(50)).build()) {
            feed.first.append("s", "a");
            feed.first.append("s", "b");
            relay.start();
            assertThat(second.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void onePassDeliversWhatIsThereAndLeaves() {
        appendThree();
        DrainResult result = relay().loops(4).build().drain(100);
        assertThat(result).isEqualTo(new DrainResult(3, 0, 0, true));
        assertThat(feed.asked).containsExactly("join r with 1 loops for one pass", "intake 0", "leave");
        assertThat(feed.first.closed).isTrue();
        assertThat(closes).hasValue(1);
    }

    @Test
    void onePassCountsWhatFailed() {
        feed.first.append("s", "a");
        feed.first.append("s", "b");
        feed.first.append("s", "c");
        answer = event -> switch (event.key().orElseThrow()) {
            case "a" -> CompletableFuture.failedFuture(new IllegalStateException("no"));
            case "b" -> CompletableFuture.failedFuture(new PermanentFailureException("NO", "no"));
            default -> CompletableFuture.completedFuture(null);
        };
        assertThat(relay().build().drain(100)).isEqualTo(new DrainResult(1, 1, 1, true));
    }

    @Test
    void onePassStopsAtItsLimitAndGivesTheRestBack() {
        for (int i = 0; i < 10; i++) {
            feed.first.append("s", "one key");
        }
        DrainResult result = relay().build().drain(3);
        assertThat(result.published()).as("the limit, and what was under way").isBetween(3L, 4L);
        assertThat(result.foundNothingMore()).isFalse();
        assertThat(feed.first.rows()).hasSize((int) (10 - result.published()));
        assertThat(feed.first.size()).isZero();
    }

    @Test
    void onePassThatCannotRenewItsPlaceHearsWhatIsUnderWayBeforeItFails() {
        appendThree();
        CompletableFuture<Void> slow = new CompletableFuture<>();
        answer = event -> {
            feed.failingToRenew = true;
            return slow;
        };
        slow.completeOnTimeout(null, 200, TimeUnit.MILLISECONDS);
        assertThatThrownBy(() -> relay().build().drain(100))
                .isInstanceOf(FeedException.class)
                .hasMessage("The place is out of reach");
        assertThat(feed.first.settled).as("the heads of both keys").containsExactlyInAnyOrder(1L, 3L);
    }

    @Test
    void anInterruptEndsAPassAfterWhatIsUnderWay() {
        for (int i = 0; i < 10; i++) {
            feed.first.append("s", "one key");
        }
        answer = event -> {
            Thread.currentThread().interrupt();
            return CompletableFuture.completedFuture(null);
        };
        DrainResult result = relay().build().drain(100);
        assertThat(Thread.interrupted()).as("whoever called is told").isTrue();
        assertThat(result.foundNothingMore()).isFalse();
        assertThat(result.published()).isBetween(1L, 2L);
        assertThat(feed.first.rows()).hasSize((int) (10 - result.published()));
    }

    @Test
    void onePassEndsDuringAnOutage() {
        appendThree();
        answer = event -> CompletableFuture.failedFuture(new DestinationDownException("DOWN", "no", null));
        assertThat(relay().build().drain(100)).isEqualTo(new DrainResult(0, 0, 0, true));
        assertThat(feed.first.rows()).hasSize(3);
    }

    @Test
    void settingsThatMakeNoSenseAreRefused() {
        assertThatThrownBy(() -> relay().loops(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A relay has 1 to 64 loops, not 0.");
        assertThatThrownBy(() -> relay().loops(65)).hasMessage("A relay has 1 to 64 loops, not 65.");
        assertThatThrownBy(() -> relay().idlePoll(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("idlePoll is PT0S. Give more than zero.");
        assertThatThrownBy(() -> relay().answerTimeout(Duration.ofSeconds(-1)))
                .hasMessage("answerTimeout is PT-1S. Give more than zero.");
        assertThatThrownBy(() -> relay().stopTime(Duration.ZERO)).hasMessage("stopTime is PT0S. Give more than zero.");
    }

    private RelaySettings.Builder relay() {
        return Relay.from(feed).to(publisher).name("r");
    }

    private void appendThree() {
        feed.first.append("s", "a");
        feed.first.append("s", "a");
        feed.first.append("s", "b");
    }
}
