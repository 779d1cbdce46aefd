// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A mistake that could be made in the product, as a small change of its source.
 *
 * @param mistake what it is, and what it would do
 * @param tests those that must find it: classes, or methods as {@code Class#method}
 */
record Mutant(String name, String mistake, List<String> tests, List<Change> changes) {

    /**
     * Some lines of a file and what stands in their place; how far they are indented does not count.
     *
     * @param file from the root of the project
     */
    record Change(String file, List<String> before, List<String> after) {

        String in(String source) {
            Pattern lines = Pattern.compile(before.stream()
                    .map(line -> Pattern.quote(line.strip()))
                    .collect(Collectors.joining("[ \\t]*\\R[ \\t]*")));
            Matcher place = lines.matcher(source);
            if (!place.find()) {
                throw new IllegalStateException("Not found in " + file + ": " + before);
            }
            String changed =
                    source.substring(0, place.start()) + String.join("\n", after) + source.substring(place.end());
            if (place.find()) {
                throw new IllegalStateException("Found more than once in " + file + ": " + before);
            }
            return changed;
        }
    }
}
