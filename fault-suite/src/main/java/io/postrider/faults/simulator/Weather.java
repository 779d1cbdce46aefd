// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.time.Duration;
import java.util.List;

/** What goes wrong, and when: crashes, pauses, outages; and what people do meanwhile. */
final class Weather {
    private final World world;
    private final Database database;
    private final Destination destination;
    private final Operator operator;
    private final Play play;

    Weather(World world, Database database, Destination destination, Operator operator, Play play) {
        this.world = world;
        this.database = database;
        this.destination = destination;
        this.operator = operator;
        this.play = play;
    }

    void plan(long until) {
        Dice dice = world.dice;
        times(dice.below(4), until, this::moveRelays);
        if (world.mood.calm()) {
            return;
        }
        times(dice.below(2), until, this::breakRelay);
        times(dice.chance(0.3) ? 1 : 0, until, this::breakDatabase);
        times(dice.below(3), until, this::breakDestination);
        times(dice.below(4), until, operator::treatSomeDead);
        times(dice.chance(0.3) ? 1 : 0, until, this::pauseStream);
        if (world.mood.oneSided()) {
            world.schedule.in(
                    Duration.ofMillis(300).toNanos(),
                    () -> play.running().stream()
                            .findFirst()
                            .ifPresent(node ->
                                    Mood.STREAMS.forEach(stream -> destination.down(node.name(), stream, until))));
            times(40, until, this::ringAll);
        }
    }

    /** Nothing stays broken. */
    void clear() {
        if (database.isDown()) {
            database.down(false);
        }
        play.running().stream().filter(Node::isResting).forEach(node -> node.rest(false));
    }

    private void times(int count, long until, Runnable action) {
        for (int i = 0; i < count; i++) {
            world.schedule.at((long) (until * world.dice.generator().nextDouble()), action);
        }
    }

    private void moveRelays() {
        List<Node> running = play.running();
        switch (world.dice.below(4)) {
            case 0, 1 -> play.startNode();
            case 2 -> {
                if (!running.isEmpty()) {
                    world.dice.pick(running).leave();
                }
            }
            default -> {
                if (!running.isEmpty()) {
                    Node node = world.dice.pick(running);
                    node.rest(true);
                    world.schedule.in(world.dice.millis(50, 1_500), () -> node.rest(false));
                }
            }
        }
    }

    private void breakRelay() {
        List<Node> running = play.running();
        if (running.isEmpty()) {
            return;
        }
        world.dice.pick(running).mishap();
        if (world.dice.chance(0.4)) {
            world.schedule.in(world.dice.millis(10, 1_000), play::startNode);
        }
    }

    private void breakDatabase() {
        if (!database.isDown()) {
            database.down(true);
            world.schedule.in(world.dice.millis(20, 2_000), () -> {
                if (database.isDown()) {
                    database.down(false);
                }
            });
        }
    }

    private void breakDestination() {
        List<Node> running = play.running();
        String whom = world.dice.chance(0.6) || running.isEmpty()
                ? ""
                : world.dice.pick(running).name();
        long until = world.now() + world.dice.millis(50, 2_000);
        destination.down(whom, world.dice.pick(Mood.STREAMS), until);
    }

    private void pauseStream() {
        String stream = world.dice.pick(Mood.STREAMS);
        operator.pause(stream, true);
        world.schedule.in(world.dice.millis(50, 1_000), () -> operator.pause(stream, false));
    }

    private void ringAll() {
        play.running().forEach(Node::ring);
    }
}
