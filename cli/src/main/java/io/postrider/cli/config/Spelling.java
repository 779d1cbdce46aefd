// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds the word that was probably meant. */
final class Spelling {
    private Spelling() {}

    /** The nearest of these words, if it is near enough that one may be mistaken for the other. */
    static Optional<String> nearest(String word, Collection<String> known) {
        String plain = plain(word);
        return known.stream()
                .filter(each -> {
                    int allowed = Math.max(1, Math.min(plain.length(), each.length()) / 3);
                    return distance(plain, plain(each)) <= allowed;
                })
                .min(Comparator.comparingInt((String each) -> distance(plain, plain(each)))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** {@code bootstrapServers}, {@code bootstrap.servers} and {@code bootstrap_servers} are one word. */
    private static String plain(String word) {
        return word.toLowerCase(Locale.ROOT).replaceAll("[._-]", "");
    }

    /** How many letters must be changed, added, left out, or swapped with the next. */
    private static int distance(String one, String other) {
        int[][] steps = new int[one.length() + 1][other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            for (int j = 0; j <= other.length(); j++) {
                steps[i][j] = i == 0 || j == 0 ? i + j : step(one, other, i, j, steps);
            }
        }
        return steps[one.length()][other.length()];
    }

    private static int step(String one, String other, int i, int j, int[][] steps) {
        int changed = steps[i - 1][j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        int least = Math.min(changed, Math.min(steps[i - 1][j], steps[i][j - 1]) + 1);
        boolean swapped =
                i > 1 && j > 1 && one.charAt(i - 1) == other.charAt(j - 2) && one.charAt(i - 2) == other.charAt(j - 1);
        return swapped ? Math.min(least, steps[i - 2][j - 2] + 1) : least;
    }
}
