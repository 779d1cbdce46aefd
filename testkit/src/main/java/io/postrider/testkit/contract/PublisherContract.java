// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a relay relies on in any publisher, tried on a real destination: bytes, key and headers arrive as they are, every
 * event is answered once, and many threads may publish at a time.
 *
 * <pre>{@code
 * class MyPublisherTest extends PublisherContract {
 *     private final MyServer server = MyServer.start();
 *
 *     @Override
 *     protected Publisher publisher() { return new MyPublisher(server.address()); }
 *
 *     @Override
 *     protected List<Received> received(int atLeast) { return server.awaitMessages(atLeast, ofSeconds(20)); }
 * }
 * }</pre>
 *
 * <p>JUnit makes one instance per test. What is received must be of this test alone: {@link #stream} has another name for
 * each.
 */
public abstract class PublisherContract {
    private static final int SECONDS = 60;

    /** A name that no other test uses. */
    protected final String stream = "contract-" + UUID.randomUUID().toString().substring(0, 8);

    private Publisher publisher = event -> CompletableFuture.completedFuture(null);

    /** For subclasses. */
    protected PublisherContract() {}

    /** The publisher to be tested, for streams named {@link #stream}; the contract closes it. */
    protected abstract Publisher publisher();

    /** What the destination has got of {@link #stream}, in its order; waits until it is at least so much, or for long enough. */
    protected abstract List<Received> received(int atLeast);

    /** Whether the destination knows keys. */
    protected boolean hasKeys() {
        return true;
    }

    /** Whether the destination can tell a message without a payload from an empty one. */
    protected boolean hasTombstones() {
        return true;
    }

    /** A payload that the destination takes, though it is large for it. */
    protected int largePayload() {
        return 500_000;
    }

    @BeforeEach
    final void open() {
        publisher = publisher();
    }

    @AfterEach
    final void close() {
        publisher.close();
    }

    @Test
    final void bytesKeyAndHeadersArriveAsTheyWereAppended() throws Exception {
        byte[] payload = new byte[256];
        for (int i = 0; i < payload.length; i++) {
            payload[i] = (byte) i;
        }
        publish(OutboxEvent.of(stream, "Type")
                .key("kéy")
                .header("plain", "value")
                .header("other", "välue")
                .payload(payload, "application/octet-stream")
                .build());
        List<Received> received = received(1);
        assertThat(received).hasSize(1);
        assertThat(received.get(0).stream()).isEqualTo(stream);
        assertThat(received.get(0).payload()).contains(ByteBuffer.wrap(payload));
        assertThat(received.get(0).headers()).containsAllEntriesOf(Map.of("plain", "value", "other", "välue"));
        if (hasKeys()) {
            assertThat(received.get(0).key()).contains("kéy");
        }
    }

    @Test
    final void anEmptyPayloadIsAMessageToo() throws Exception {
        publish(OutboxEvent.of(stream, "T").key("k").payload(new byte[0]).build());
        assertThat(received(1)).hasSize(1);
        assertThat(received(1).get(0).payload().map(ByteBuffer::remaining).orElse(0))
                .isZero();
    }

    @Test
    final void aTombstoneArrivesWithoutAPayload() throws Exception {
        Assumptions.assumeTrue(hasTombstones());
        publish(OutboxEvent.of(stream, "T").key("k").tombstone().build());
        assertThat(received(1)).hasSize(1);
        assertThat(received(1).get(0).payload()).isEmpty();
    }

    @Test
    final void anEventWithoutAKeyArrivesWithoutOne() throws Exception {
        publish(event(null, "x"));
        assertThat(received(1)).hasSize(1);
        assertThat(received(1).get(0).key()).isEmpty();
    }

    @Test
    final void aLargePayloadArrivesWhole() throws Exception {
        byte[] payload = new byte[largePayload()];
        new Random(1).nextBytes(payload);
        publish(OutboxEvent.of(stream, "T").key("k").payload(payload).build());
        assertThat(received(1)).hasSize(1);
        assertThat(received(1).get(0).payload()).contains(ByteBuffer.wrap(payload));
    }

    @Test
    final void whatIsSentTwiceArrivesTwiceAndAlike() throws Exception {
        OutboxEvent event = event("k", "x");
        publish(event);
        publish(event);
        List<Received> received = received(2);
        assertThat(received).hasSize(2);
        assertThat(received.get(0)).isEqualTo(received.get(1));
    }

    @Test
    final void whatIsSentAfterTheAnswerToTheOneBeforeArrivesAfterIt() throws Exception {
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            publish(event("k", "n" + i));
            sent.add("n" + i);
        }
        assertThat(received(20).stream().map(PublisherContract::text)).containsExactlyElementsOf(sent);
    }

    @Test
    final void manyThreadsMayPublishAndEveryEventIsAnsweredOnce() throws Exception {
        int threads = 4;
        int each = 100;
        AtomicIntegerArray answers = new AtomicIntegerArray(threads * each);
        Set<String> sent = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<?>> stages = new CopyOnWriteArrayList<>();
        List<Thread> running = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int first = t * each;
            Thread thread = new Thread(() -> {
                for (int i = first; i < first + each; i++) {
                    int number = i;
                    sent.add("n" + i);
                    stages.add(publisher
                            .publish(event("k" + i, "n" + i))
                            .whenComplete((result, failure) -> answers.incrementAndGet(number))
                            .toCompletableFuture());
                }
            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        assertThat(stages).hasSize(threads * each);
        for (CompletableFuture<?> stage : stages) {
            stage.get(SECONDS, TimeUnit.SECONDS);
        }
        List<Received> received = received(threads * each);
        assertThat(received).hasSize(threads * each);
        Set<String> arrived = new HashSet<>();
        received.forEach(message -> arrived.add(text(message)));
        assertThat(arrived).isEqualTo(sent);
        for (int i = 0; i < answers.length(); i++) {
            assertThat(answers.get(i)).isEqualTo(1);
        }
    }

    @Test
    final void closingLeavesNothingUnanswered() throws Exception {
        List<CompletionStage<?>> stages = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            stages.add(publisher.publish(event("k" + i, "n" + i)));
        }
        publisher.close();
        int answered = 0;
        for (CompletionStage<?> stage : stages) {
            Optional<Throwable> failure = stage.handle((result, thrown) -> Optional.ofNullable(thrown))
                    .toCompletableFuture()
                    .get(SECONDS, TimeUnit.SECONDS);
            answered += failure.isEmpty() ? 1 : 0;
        }
        assertThat(received(answered)).as("what was acknowledged is there").hasSizeGreaterThanOrEqualTo(answered);
    }

    private void publish(OutboxEvent event) throws Exception {
        publisher.publish(event).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
    }

    private OutboxEvent event(@Nullable String key, String text) {
        OutboxEvent.Builder event = OutboxEvent.of(stream, "T").text(text);
        return (key == null ? event.unkeyed() : event.key(key)).build();
    }

    private static String text(Received received) {
        return received.payload()
                .map(payload -> UTF_8.decode(payload.duplicate()).toString())
                .orElse("");
    }
}
