// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What happened, line by line; empty unless asked for, since a seed that fails can be played again. */
final class Trace {
    private final boolean kept;
    private final List<String> lines = new ArrayList<>();

    Trace(boolean kept) {
        this.kept = kept;
    }

    /** @param parts put one behind the other, and only if lines are kept */
    void add(long now, String actor, Object... parts) {
        if (!kept) {
            return;
        }
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%12.6f  %-12s", now / 1e9, actor));
        for (Object part : parts) {
            line.append(' ').append(part);
        }
        lines.add(line.toString());
    }

    List<String> lines() {
        return lines;
    }
}
