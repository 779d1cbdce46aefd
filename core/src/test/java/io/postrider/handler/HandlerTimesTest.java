// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import static io.postrider.handler.HandlersTest.event;
import static io.postrider.handler.HandlersTest.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.relay.Delivery;
import io.postrider.relay.NotSentException;
import io.postrider.relay.RetryableFailureException;
import io.postrider.relay.UnknownOutcomeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long handlers run, how many at once, and how they end. */
class HandlerTimesTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    private final CountDownLatch never = new CountDownLatch(1);
    private Handlers handlers = HandlersTest.all(event -> {});

    @AfterEach
    void close() {
        never.countDown();
        handlers.close();
    }

    @Test
    void oneThatTakesTooLongIsInterruptedAndTriedAgain() {
        AtomicBoolean interrupted = new AtomicBoolean();
        AtomicBoolean told = new AtomicBoolean();
        handlers = Handlers.builder()
                .on("s", "T")
                .within(SHORT)
                .handle((event, context) -> {
                    context.onInterrupt(() -> told.set(true));
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                    }
                    return Handled.done();
                })
                .build();
        assertThat(failure(send("T")))
                .isInstanceOf(RetryableFailureException.class)
                .hasMessage("The handler took longer than 30 ms and was interrupted")
                .extracting("code")
                .isEqualTo("TIMEOUT");
        assertThat(interrupted).isTrue();
        assertThat(told).isTrue();
    }

    @Test
    void itDoesNotEndBeforeWhatItRegisteredForItsInterrupt() {
        CountDownLatch handlerReturned = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        CompletableFuture<Boolean> endedBefore = new CompletableFuture<>();
        handlers = Handlers.builder()
                .on("s", "T")
                .within(SHORT)
                .handle((event, context) -> {
                    context.onInterrupt(() -> {
                        awaitUninterruptibly(handlerReturned);
                        // Long enough for it to answer, if it did not wait.
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                        endedBefore.complete(ended.get());
                    });
                    try {
                        never.await();
                    } finally {
                        handlerReturned.countDown();
                    }
                    return Handled.done();
                })
                .build();
        CompletionStage<?> sent = send("T").whenComplete((result, failure) -> ended.set(true));
        assertThat(failure(sent)).isInstanceOf(RetryableFailureException.class);
        assertThat(endedBefore).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(false);
    }

    @Test
    void whatItRegisteredForItsInterruptMayFail() {
        handlers = Handlers.builder()
                .grace(SHORT)
                .on("s", "T")
                .within(SHORT)
                .handle((event, context) -> {
                    context.onInterrupt(() -> {
                        throw new IllegalStateException("cannot be ended");
                    });
                    awaitUninterruptibly(never);
                    return Handled.done();
                })
                .build();
        assertThat(failure(send("T"))).hasMessage("The handler took longer than 30 ms and was interrupted");
    }

    @Test
    void itIsUnknownWhereTheRegistrationSaysSo() {
        handlers = Handlers.builder()
                .on("s", "T")
                .within(SHORT)
                .timeoutIsUnknown()
                .run(event -> never.await())
                .build();
        assertThat(failure(send("T")))
                .isInstanceOf(UnknownOutcomeException.class)
                .extracting("code")
                .isEqualTo("TIMEOUT");
    }

    @Test
    void whatWasDoneInSpiteOfTheInterruptIsDone() throws Exception {
        handlers = Handlers.builder()
                .on("s", "T")
                .within(SHORT)
                .run(event -> assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class))
                .build();
        assertThat(send("T").toCompletableFuture().get(20, TimeUnit.SECONDS)).isNull();
    }

    @Test
    void atAStopWhatIsUnknownIsSaidInTimeAndAnyOtherMayEndWellUntilTheLastMoment() throws Exception {
        CountDownLatch began = new CountDownLatch(2);
        handlers = Handlers.builder()
                .on("s", "T")
                .run(event -> {
                    began.countDown();
                    awaitUninterruptibly(never);
                })
                .on("s", "U")
                .timeoutIsUnknown()
                .run(event -> {
                    began.countDown();
                    awaitUninterruptibly(never);
                })
                .build();
        CompletionStage<?> plain = send("T");
        CompletionStage<?> unknown = send("U");
        began.await();
        handlers.wrapUp(SHORT);
        assertThat(failure(unknown))
                .isInstanceOf(UnknownOutcomeException.class)
                .extracting("code")
                .isEqualTo("STOPPED");
        assertThat(plain.toCompletableFuture()).isNotDone();
        never.countDown();
        assertThat(plain.toCompletableFuture().get(20, TimeUnit.SECONDS)).isNull();
    }

    @Test
    void theNextOneOnTheSameThreadIsNotInterrupted() throws Exception {
        AtomicBoolean interrupted = new AtomicBoolean();
        handlers = Handlers.builder()
                .concurrency(1)
                .on("s", "T")
                .within(SHORT)
                .run(event -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                    throw new IllegalStateException("with the flag still up");
                })
                .on("s", "U")
                .run(event -> interrupted.set(Thread.currentThread().isInterrupted()))
                .build();
        CompletionStage<?> first = send("T");
        CompletionStage<?> second = send("U");
        failure(first);
        second.toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(interrupted).isFalse();
    }

    @Test
    void oneThatDoesNotComeBackIsGivenUp() {
        handlers = Handlers.builder()
                .grace(SHORT)
                .on("s", "T")
                .within(SHORT)
                .run(event -> awaitUninterruptibly(never))
                .build();
        assertThat(failure(send("T"))).hasMessage("The handler took longer than 30 ms and was interrupted");
        assertThat(never.getCount()).as("it still runs").isEqualTo(1);
    }

    @Test
    void noMoreRunAtOnceThanAllowedWhateverTheExecutor() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CyclicBarrier three = new CyclicBarrier(3);
        ExecutorService many = Executors.newCachedThreadPool();
        try {
            handlers = Handlers.builder()
                    .concurrency(3)
                    .executor(many)
                    .otherwise()
                    .run(event -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        three.await(20, TimeUnit.SECONDS);
                        running.decrementAndGet();
                    })
                    .build();
            List<CompletableFuture<?>> sent = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                sent.add(send("T" + i).toCompletableFuture());
            }
            CompletableFuture.allOf(sent.toArray(new CompletableFuture<?>[0])).get(20, TimeUnit.SECONDS);
            assertThat(most).hasValue(3);
            assertThat(handlers.traits().mostUnderWay()).isEqualTo(3);
        } finally {
            many.shutdown();
        }
    }

    @Test
    void closingInterruptsWhatDoesNotEndAndTakesNothingMore() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        handlers = Handlers.builder()
                .concurrency(1)
                .otherwise()
                .run(event -> {
                    calls.incrementAndGet();
                    started.countDown();
                    never.await();
                })
                .build();
        CompletionStage<?> running = send("T");
        CompletionStage<?> waiting = send("U");
        started.await();
        handlers.close();
        assertThat(failure(running)).isInstanceOf(NotSentException.class).hasMessageContaining("its relay stops");
        assertThat(failure(waiting)).isInstanceOf(NotSentException.class);
        assertThat(calls).hasValue(1);
        assertThatThrownBy(() -> send("V")).isInstanceOf(NotSentException.class);
    }

    @Test
    void closingWaitsForWhatEndsByItself() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        AtomicBoolean done = new AtomicBoolean();
        handlers = HandlersTest.all(event -> {
            started.countDown();
            never.await(200, TimeUnit.MILLISECONDS);
            done.set(true);
        });
        CompletionStage<?> running = send("T");
        started.await();
        handlers.close();
        assertThat(done).isTrue();
        assertThat(running.toCompletableFuture().isCompletedExceptionally()).isFalse();
    }

    private CompletionStage<?> send(String type) {
        return handlers.deliver(new Delivery(1, 0, 0, event("s", type).build(), nanos -> true));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // As bad handlers do.
            }
        }
    }
}
