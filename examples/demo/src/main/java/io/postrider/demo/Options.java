// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What the user asked for on the command line. */
final class Options {
    private int events = 20_000;
    private int rate = 2_000;
    private int relays = 2;
    private int leaseSeconds = 8;
    private boolean chaos;
    private boolean keep;
    private boolean help;

    private Options() {}

    /**
     * Reads them.
     *
     * @throws IllegalArgumentException saying what is wrong with which
     */
    static Options parse(String... args) {
        Options options = new Options();
        Deque<String> left = new ArrayDeque<>(List.of(args));
        while (!left.isEmpty()) {
            String name = left.removeFirst();
            switch (name) {
                case "--events" -> options.events = number(name, left, 1_000_000);
                case "--rate" -> options.rate = number(name, left, 100_000);
                case "--relays" -> options.relays = number(name, left, 8);
                case "--lease" -> options.leaseSeconds = number(name, left, 600);
                case "--chaos" -> options.chaos = true;
                case "--keep" -> options.keep = true;
                case "--help", "-h" -> options.help = true;
                default -> throw new IllegalArgumentException("Unknown option " + name + ".");
            }
        }
        return options;
    }

    private static int number(String name, Deque<String> left, int most) {
        String range = name + " needs a whole number from 1 to " + most;
        if (left.isEmpty()) {
            throw new IllegalArgumentException(range + ".");
        }
        String text = left.removeFirst();
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new IllegalArgumentException(range + ", not " + text + ".");
    }

    int events() {
        return events;
    }

    int rate() {
        return rate;
    }

    int relays() {
        return relays;
    }

    int leaseSeconds() {
        return leaseSeconds;
    }

    boolean chaos() {
        return chaos;
    }

    boolean keep() {
        return keep;
    }

    boolean help() {
        return help;
    }
}
