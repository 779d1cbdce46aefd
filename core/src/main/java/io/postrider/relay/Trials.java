// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tries a destination whose gate is closed, with one event at a time, which enters its lane like any other. For one thread. */
final class Trials {
    private static final int ROWS = 16;

    private final Intake intake;
    private final Lanes lanes;
    private final Shared shared;

    Trials(Intake intake, Lanes lanes, Shared shared) {
        this.intake = intake;
        this.lanes = lanes;
        this.shared = shared;
    }

    /** Takes an event for a destination whose turn it is, if there is one; returns whether the feed was asked. */
    boolean tryNext(long now) {
        @Nullable String stream = shared.gates().dueForTrial(now).orElse(null);
        if (stream == null) {
            return false;
        }
        List<Delivery> taken = List.of();
        List<Delivery> heads = List.of();
        boolean judged = false;
        try {
            Taken tried = intake.take(Demand.trial(stream, ROWS, shared.window().batchBytes()));
            tried.judged().forEach(shared.told()::judged);
            judged = !tried.judged().isEmpty();
            taken = tried.deliveries();
            // Behind an event that has not been answered yet, a trial would wait as long as that one.
            heads = taken.stream().filter(head -> !lanes.wouldWait(head)).toList();
        } finally {
            if (heads.isEmpty() && judged) {
                shared.gates().tryNext(stream, now);
            } else if (heads.isEmpty()) {
                shared.gates().nothingToTry(stream, now);
            }
        }
        List<Delivery> rest = new ArrayList<>(taken);
        try {
            if (!heads.isEmpty()) {
                Delivery chosen = shared.gates().choose(stream, heads);
                lanes.enter(chosen);
                rest.remove(chosen);
            }
        } finally {
            // If the chosen one could not enter, it is among them, and another must be tried.
            rest.forEach(shared.gates()::gaveUp);
            intake.release(rest);
        }
        return true;
    }
}
