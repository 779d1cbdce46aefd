// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import static io.postrider.handler.HandlersTest.event;
import static io.postrider.handler.HandlersTest.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.relay.Delivery;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.Publisher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandlerBatchesTest {
    private final List<List<Long>> given = new CopyOnWriteArrayList<>();
    private final CountDownLatch firstStarted = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private Handlers handlers = HandlersTest.all(event -> {});

    @AfterEach
    void close() {
        goOn.countDown();
        handlers.close();
    }

    @Test
    void whatComesWhileOthersAreHandledGoesTogether() throws Exception {
        handlers = batches(batch -> new Handled.Settled());
        List<CompletionStage<?>> sent = send(6);
        for (CompletionStage<?> each : sent) {
            assertThat(each.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo(Publisher.Settled.SETTLED);
        }
        assertThat(given).containsExactly(List.of(1L), List.of(2L, 3L, 4L), List.of(5L, 6L));
        assertThat(handlers.traits().mostUnderWay()).isEqualTo(3);
    }

    @Test
    void aBatchThatFailsIsHandledOneByOne() throws Exception {
        handlers = batches(batch -> batch.contains(3L) ? Handled.failed("BAD", "three") : new Handled.Settled());
        List<CompletionStage<?>> sent = send(4);
        assertThat(failure(sent.get(2))).hasMessage("three");
        assertThat(sent.get(3).toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo(Publisher.Settled.SETTLED);
        assertThat(given).containsExactly(List.of(1L), List.of(2L, 3L, 4L), List.of(2L), List.of(3L), List.of(4L));
    }

    @Test
    void whatIsUnknownOfABatchIsUnknownOfAll() throws Exception {
        handlers = batches(batch -> batch.size() > 1 ? Handled.unknown("CUT", "no reply") : Handled.done());
        List<CompletionStage<?>> sent = send(4);
        assertThat(failure(sent.get(1))).hasMessage("no reply");
        assertThat(failure(sent.get(3))).hasMessage("no reply");
        assertThat(given).containsExactly(List.of(1L), List.of(2L, 3L, 4L));
    }

    @Test
    void aDestinationThatIsDownForABatchIsNotAskedForEach() throws Exception {
        handlers = batches(batch -> {
            if (batch.size() > 1) {
                throw new DestinationDownException("DOWN", "no route", null);
            }
            return Handled.done();
        });
        List<CompletionStage<?>> sent = send(4);
        assertThat(failure(sent.get(3))).isInstanceOf(DestinationDownException.class);
        assertThat(given).containsExactly(List.of(1L), List.of(2L, 3L, 4L));
    }

    private interface Body {
        Handled on(List<Long> batch) throws Exception;
    }

    /** One at a time; the first waits until all others have come. */
    private Handlers batches(Body body) {
        return Handlers.builder()
                .concurrency(1)
                .on("s", "T")
                .settle(new SettlingHandler() {
                    @Override
                    public int most() {
                        return 3;
                    }

                    @Override
                    public Handled handle(List<Delivery> deliveries, Context context) throws Exception {
                        List<Long> ids = deliveries.stream().map(Delivery::id).toList();
                        given.add(ids);
                        firstStarted.countDown();
                        goOn.await();
                        return body.on(ids);
                    }
                })
                .build();
    }

    private List<CompletionStage<?>> send(int count) throws InterruptedException {
        List<CompletionStage<?>> sent = new ArrayList<>();
        sent.add(send(1L));
        firstStarted.await();
        for (long id = 2; id <= count; id++) {
            sent.add(send(id));
        }
        goOn.countDown();
        return sent;
    }

    private CompletionStage<?> send(long id) {
        return handlers.deliver(new Delivery(id, 0, 0, event("s", "T").build(), nanos -> true));
    }
}
