// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** All that is wrong in one file, in the order of its lines. Not thread-safe. */
final class Problems {
    private final String file;
    private final List<Problem> all = new ArrayList<>();

    private record Problem(int line, String text) {}

    Problems(String file) {
        this.file = file;
    }

    /** @param line counted from 1; 0 if it concerns the whole file */
    void add(int line, String path, String what) {
        all.add(new Problem(line, (path.isEmpty() ? "" : path + ": ") + what));
    }

    int count() {
        return all.size();
    }

    List<String> lines() {
        return all.stream()
                .sorted(Comparator.comparingInt(Problem::line))
                .map(each -> file + (each.line() == 0 ? "" : ":" + each.line()) + ": " + each.text())
                .distinct()
                .toList();
    }
}
