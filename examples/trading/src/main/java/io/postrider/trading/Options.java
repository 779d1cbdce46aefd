// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** What the user asked for on the command line. */
record Options(int orders, boolean kafka, boolean chaos, boolean help) {
    private static final int MOST = 100_000;

    /** @throws IllegalArgumentException saying what is wrong with which */
    static Options parse(String... args) {
        int orders = 200;
        boolean kafka = false;
        boolean chaos = false;
        boolean help = false;
        Deque<String> left = new ArrayDeque<>(List.of(args));
        while (!left.isEmpty()) {
            String name = left.removeFirst();
            switch (name) {
                case "--orders" -> orders = number(left.isEmpty() ? "nothing" : left.removeFirst());
                case "--kafka" -> kafka = true;
                case "--chaos" -> chaos = true;
                case "--help", "-h" -> help = true;
                default -> throw new IllegalArgumentException("Unknown option " + name + ".");
            }
        }
        return new Options(orders, kafka, chaos, help);
    }

    private static int number(String text) {
        try {
            int number = Integer.parseInt(text);
            if (number >= 1 && number <= MOST) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below.
        }
        throw new IllegalArgumentException("--orders needs a whole number from 1 to " + MOST + ", not " + text + ".");
    }
}
