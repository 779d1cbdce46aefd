// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.relay.DestinationDownException;
import io.postrider.relay.NotSentException;
import io.postrider.relay.PermanentFailureException;
import io.postrider.relay.Publisher;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Takes events, refuses them, is away, and loses or delays requests and answers; keeps the contract of runs. */
final class Destination {
    private enum Fate {
        TAKEN,
        TAKEN_BUT_FAILED,
        ANSWER_LOST,
        ANSWER_LATE,
        REQUEST_LOST,
        REFUSED,
        REFUSED_FOR_GOOD,
        NOT_SENT,
        DOWN
    }

    /** One at a time, so that nothing behind it waits for longer than an answer may take. */
    private static final long SLOW_AGAIN_AFTER = Duration.ofSeconds(2).toNanos();

    private record Parcel(Send send, Fate fate, CompletableFuture<Object> answer) {}

    private final World world;
    private final Ledger ledger;
    private final Runnable startNode;
    private final Map<String, Long> downUntil = new HashMap<>();
    private final Map<UUID, Fate> poisoned = new HashMap<>();
    private long slowAgainAt;

    /** @param startNode has another relay started */
    Destination(World world, Ledger ledger, Runnable startNode) {
        this.world = world;
        this.ledger = ledger;
        this.startNode = startNode;
    }

    /** @param leased whether it is for what is sent at its commit */
    Publisher publisher(Node node, boolean leased) {
        return new Publisher() {
            @Override
            public CompletionStage<?> publish(OutboxEvent event) {
                return new Going(node, leased).publish(event);
            }

            @Override
            public Optional<Run> run() {
                return world.mood.runs() ? Optional.of(new Going(node, leased)) : Optional.empty();
            }
        };
    }

    /** @param whom a relay, or everybody if empty */
    void down(String whom, String stream, long until) {
        world.note("destination", stream, "is down for", whom.isEmpty() ? "all" : whom, "until", until / 1e9);
        downUntil.put(whom + "/" + stream, until);
    }

    private boolean isDown(Node node, String stream) {
        return downUntil.getOrDefault("/" + stream, 0L) > world.now()
                || downUntil.getOrDefault(node.name() + "/" + stream, 0L) > world.now();
    }

    private Fate fate(Node node, OutboxEvent event) {
        if (!world.stormy) {
            return Fate.TAKEN;
        }
        Dice dice = world.dice;
        if (isDown(node, event.stream())) {
            return dice.chance(0.1) ? Fate.REQUEST_LOST : Fate.DOWN;
        }
        Fate poison = poisoned.computeIfAbsent(
                event.id(),
                id -> !dice.chance(world.mood.refusals())
                        ? Fate.TAKEN
                        : dice.chance(0.5) ? Fate.REFUSED : Fate.REFUSED_FOR_GOOD);
        if (poison != Fate.TAKEN && dice.chance(0.8)) {
            return poison;
        }
        if (dice.chance(world.mood.doubts())) {
            return dice.pick(List.of(
                    Fate.TAKEN_BUT_FAILED,
                    Fate.ANSWER_LOST,
                    Fate.ANSWER_LATE,
                    Fate.REQUEST_LOST,
                    Fate.REFUSED,
                    Fate.NOT_SENT));
        }
        return Fate.TAKEN;
    }

    /** What is on its way one behind the other: nothing of it arrives behind a failure. */
    private final class Going implements Publisher.Run {
        private final Node node;
        private final boolean leased;
        private final ArrayDeque<Parcel> waiting = new ArrayDeque<>();
        private boolean moving;
        private boolean broken;

        Going(Node node, boolean leased) {
            this.node = node;
            this.leased = leased;
        }

        @Override
        public CompletionStage<?> publish(OutboxEvent event) {
            Send send = ledger.sending(node, event, leased);
            if (send.entry.id == world.mood.deadly()) {
                kill(send);
            }
            Parcel parcel = new Parcel(send, fate(node, event), new CompletableFuture<>());
            world.note(
                    node.name(),
                    leased ? "sends at commit" : "sends",
                    send.entry,
                    parcel.fate == Fate.TAKEN ? "" : parcel.fate);
            if (broken) {
                answer(parcel, new NotSentException("BEHIND", "no"), world.moment());
            } else if (parcel.fate == Fate.REFUSED && world.dice.chance(0.2)) {
                broken = true;
                ledger.refused(send, false);
                throw new IllegalStateException("refused");
            } else {
                waiting.add(parcel);
                move();
            }
            return parcel.answer;
        }

        private void move() {
            if (!moving && !waiting.isEmpty()) {
                moving = true;
                world.schedule.in(nanosToTheNext(), () -> {
                    moving = false;
                    arrive(waiting.remove());
                    move();
                });
            }
        }

        private long nanosToTheNext() {
            if (world.stormy && world.dice.chance(world.mood.doubts() / 3)) {
                return world.dice.millis(100, 4_000);
            }
            if (world.mood.calm() && world.now() >= slowAgainAt && world.dice.chance(0.05)) {
                slowAgainAt = world.now() + SLOW_AGAIN_AFTER;
                world.count(Sometimes.SLOW_ANSWER_ON_A_CALM_DAY);
                return world.dice.millis(800, 1_200);
            }
            return world.dice.millis(0.2, 6);
        }

        private void arrive(Parcel parcel) {
            if (node.isOver()) {
                if (world.dice.chance(0.4)) {
                    waiting.clear();
                    return;
                }
                world.count(Sometimes.ARRIVED_AFTER_CRASH);
            }
            switch (parcel.fate) {
                case TAKEN, ANSWER_LATE, ANSWER_LOST, TAKEN_BUT_FAILED -> {
                    world.note("destination", "has", parcel.send.entry, "of", node.name());
                    ledger.arrived(parcel.send);
                }
                default -> {}
            }
            switch (parcel.fate) {
                case TAKEN -> answer(parcel, null, world.moment());
                case ANSWER_LATE -> {
                    world.count(Sometimes.ANSWER_LATE);
                    answer(parcel, null, world.dice.millis(200, 4_000));
                }
                case ANSWER_LOST -> world.count(Sometimes.ANSWER_LOST);
                case REQUEST_LOST -> {
                    world.count(Sometimes.REQUEST_LOST);
                    callBack();
                }
                default -> {
                    answer(parcel, failure(parcel.fate), world.moment());
                    callBack();
                }
            }
        }

        private void callBack() {
            broken = true;
            if (!waiting.isEmpty()) {
                world.count(Sometimes.RUN_BROKEN);
            }
            waiting.forEach(behind -> answer(behind, new NotSentException("BEHIND", "no"), world.moment()));
            waiting.clear();
        }
    }

    /** As an event that takes all memory does: the process is no more before it has sent anything. */
    private void kill(Send send) {
        world.note(send.node.name(), "is killed by", send.entry);
        world.count(Sometimes.RELAY_KILLED_BY_EVENT);
        send.node.crash();
        world.schedule.in(world.dice.millis(10, 500), startNode);
        throw new Crash();
    }

    private RuntimeException failure(Fate fate) {
        return switch (fate) {
            case REFUSED -> new IllegalStateException("refused");
            case REFUSED_FOR_GOOD -> new PermanentFailureException("NO", "refused for good");
            case DOWN, TAKEN_BUT_FAILED -> {
                boolean asks = world.dice.chance(0.1);
                yield new DestinationDownException("DOWN", "away", null, asks ? Duration.ofMillis(700) : null);
            }
            default -> new NotSentException("NOT_SENT", "no");
        };
    }

    private void answer(Parcel parcel, @Nullable RuntimeException failure, long delay) {
        world.schedule.in(delay, () -> {
            Node node = parcel.send.node;
            if (node.isOver()) {
                return;
            }
            if (node.isPaused()) {
                answer(parcel, failure, node.nanosPaused());
                return;
            }
            world.note(node.name(), "hears", parcel.send.entry, failure == null ? "taken" : failure);
            if (failure == null) {
                ledger.succeeded(parcel.send);
                parcel.answer.complete("taken");
            } else {
                if (failure instanceof NotSentException || failure instanceof DestinationDownException) {
                    ledger.failed(parcel.send);
                } else {
                    ledger.refused(parcel.send, failure instanceof PermanentFailureException);
                }
                parcel.answer.completeExceptionally(failure);
                if (world.stormy && world.dice.chance(0.02)) {
                    node.mishap();
                }
            }
        });
    }
}
