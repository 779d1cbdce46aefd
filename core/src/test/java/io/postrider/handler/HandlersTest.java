// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.relay.Delivery;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Publisher;
import io.postrider.relay.RetryableFailureException;
import io.postrider.relay.UnknownOutcomeException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandlersTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private Handlers handlers = all(event -> {});

    @AfterEach
    void close() {
        handlers.close();
    }

    @Test
    void eachTypeOfEachStreamHasItsOwnHandler() throws Exception {
        List<String> done = new CopyOnWriteArrayList<>();
        handlers = Handlers.builder()
                .on("orders", "Placed")
                .as(bytes -> new String(bytes, UTF_8).length())
                .run(length -> done.add("placed " + length))
                .on("orders", "Paid")
                .handle((event, context) -> {
                    done.add("paid " + event.id().equals(context.event().id()) + " " + context.attempt());
                    return Handled.done();
                })
                .on("payments", "Placed")
                .run(event -> done.add("payments"))
                .build();
        answer(event("orders", "Placed").payload("four".getBytes(UTF_8)));
        answer(new Delivery(7, 3, 4, event("orders", "Paid").build(), nanos -> true));
        answer(event("payments", "Placed"));
        assertThat(done).containsExactly("placed 4", "paid true 5", "payments");
    }

    @Test
    void itRunsOnAThreadOfItsOwn() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        handlers = all(event -> threads.add(Thread.currentThread()));
        answer(event("s", "T"));
        assertThat(threads.get(0)).isNotSameAs(Thread.currentThread());
        assertThat(threads.get(0).isDaemon()).isTrue();
        assertThat(threads.get(0).getName()).startsWith("postrider-handler-");
    }

    @Test
    void whatCannotBeReadIsDeadAndSaysNothingOfWhatItContains() {
        handlers = Handlers.builder()
                .on("s", "T")
                .as(bytes -> {
                    throw new IllegalArgumentException("secret");
                })
                .run(message -> {})
                .build();
        assertThat(failure(event("s", "T").payload(new byte[] {1})))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("The payload could not be read: java.lang.IllegalArgumentException")
                .extracting("code")
                .isEqualTo("UNREADABLE");
        assertThat(failure(event("s", "T")))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("The event has no payload. Handle tombstones without a decoder.");
    }

    @Test
    void whatNobodyHandlesIsDeadUnlessSomebodyHandlesAllOthers() throws Exception {
        handlers = Handlers.builder().on("s", "T").run(event -> {}).build();
        assertThat(failure(event("s", "U")))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("Type U of stream s has no handler. Register one, or one for all others with otherwise(),"
                        + " then requeue.")
                .extracting("code")
                .isEqualTo("NO_HANDLER");
        List<String> others = new CopyOnWriteArrayList<>();
        handlers = Handlers.builder()
                .on("s", "T")
                .run(event -> {})
                .otherwise()
                .run(event -> others.add(event.type()))
                .build();
        answer(event("s", "T"));
        answer(event("s", "U"));
        assertThat(others).containsExactly("U");
    }

    @Test
    void contradictionsAreRefusedWhenItIsBuilt() {
        Handlers.Builder twice =
                Handlers.builder().on("s", "T").run(event -> {}).on("s", "T").run(event -> {});
        assertThatThrownBy(twice::build)
                .isInstanceOf(OutboxException.class)
                .hasMessage(
                        "Type T of stream s has two handlers. Keep one; to have two things done, append an event for"
                                + " each.");
        assertThatThrownBy(() -> Handlers.builder().build())
                .isInstanceOf(OutboxException.class)
                .hasMessage("No handler is registered, so every event would be dead. Register one.");
        Handlers.Builder otherwise = Handlers.builder().otherwise().run(event -> {});
        assertThatThrownBy(() -> otherwise.otherwise().run(event -> {}))
                .hasMessage("Two handlers are given for all other events. Keep one.");
        assertThatThrownBy(() -> Handlers.builder().on("s", "T").within(Duration.ZERO))
                .hasMessage("The timeout is PT0S. Give more than zero.");
        assertThatThrownBy(() -> Handlers.builder().concurrency(0))
                .hasMessage("1 to 10000 handlers run at once, not 0.");
    }

    @Test
    void whatAHandlerSaysIsWhatItIs() throws Exception {
        assertThat(answerOf(Handled.done())).isNull();
        assertThat(answerOf(new Handled.Settled())).isEqualTo(Publisher.Settled.SETTLED);
        assertThat(failureOf(Handled.retry("BUSY", "not now")))
                .isInstanceOfSatisfying(RetryableFailureException.class, failure -> {
                    assertThat(failure.code()).isEqualTo("BUSY");
                    assertThat(failure.retryAfter()).isEmpty();
                });
        assertThat(failureOf(Handled.retryAfter(HOUR, "LIMIT", "later")))
                .isInstanceOfSatisfying(
                        RetryableFailureException.class,
                        failure -> assertThat(failure.retryAfter()).contains(HOUR));
        assertThat(failureOf(Handled.failed("NO_SUCH_ACCOUNT", "42")))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("42");
        assertThat(failureOf(Handled.unknown("CUT", "no reply")))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessage("no reply");
        assertThatThrownBy(() -> Handled.retryAfter(HOUR.negated(), "C", "m"))
                .hasMessage("A retry after PT-1H is in the past. Give zero or more.");
    }

    @Test
    void whatAHandlerThrowsIsPassedOn() {
        DestinationDownException down = new DestinationDownException("DOWN", "bank is closed", null);
        for (Throwable thrown : List.of(new IllegalStateException("no"), new StackOverflowError(), down)) {
            handlers = Handlers.builder()
                    .on("s", "T")
                    .handle((event, context) -> {
                        if (thrown instanceof Error error) {
                            throw error;
                        }
                        throw (Exception) thrown;
                    })
                    .build();
            assertThat(failure(event("s", "T"))).isSameAs(thrown);
        }
    }

    @Test
    void whatItsRelayIsNotEntitledToAnyMoreIsNotStarted() {
        handlers = all(event -> {
            throw new AssertionError("started");
        });
        Delivery late = new Delivery(1, 0, 0, event("s", "T").build(), nanos -> false);
        assertThat(failure(handlers.deliver(late)))
                .isInstanceOf(NotSentException.class)
                .extracting("code")
                .isEqualTo("TOO_LATE");
    }

    @Test
    void aListenerIsToldHowLongItTookAndMayFail() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        handlers = Handlers.builder()
                .listener((event, events, took, done) -> {
                    told.add(event.stream() + " " + event.type() + " " + events + " " + done + " "
                            + (took.toNanos() > 0));
                    throw new IllegalStateException("careless");
                })
                .on("s", "T")
                .run(event -> {})
                .on("s", "U")
                .handle((event, context) -> Handled.failed("C", "m"))
                .build();
        answer(event("s", "T"));
        failure(event("s", "U"));
        assertThat(told).containsExactly("s T 1 true true", "s U 1 false true");
    }

    static Handlers all(Route.Work<OutboxEvent> work) {
        return Handlers.builder().otherwise().run(work).build();
    }

    static OutboxEvent.Builder event(String stream, String type) {
        return OutboxEvent.of(stream, type);
    }

    private Object answerOf(Handled handled) throws Exception {
        handlers = Handlers.builder()
                .otherwise()
                .handle((event, context) -> handled)
                .build();
        return answer(event("s", "T"));
    }

    private Throwable failureOf(Handled handled) {
        handlers = Handlers.builder()
                .otherwise()
                .handle((event, context) -> handled)
                .build();
        return failure(event("s", "T"));
    }

    private Object answer(OutboxEvent.Builder event) throws Exception {
        return answer(new Delivery(1, 0, 0, event.build(), nanos -> true));
    }

    private Object answer(Delivery delivery) throws Exception {
        return handlers.deliver(delivery).toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private Throwable failure(OutboxEvent.Builder event) {
        return failure(handlers.publish(event.build()));
    }

    static Throwable failure(CompletionStage<?> stage) {
        try {
            return new AssertionError(
                    "No failure: " + stage.toCompletableFuture().get(20, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return Objects.requireNonNull(e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
