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
        List<Delivery> back = new ArrayList<>();
        boolean begun = false;
        boolean another = false;
        try {
            Taken tried = intake.take(Demand.trial(stream, ROWS, shared.window().batchBytes()));
            back.addAll(tried.deliveries());
            tried.judged().forEach(shared.told()::judged);
            // Behind an event that has not been answered yet, a trial would wait as long as that one.
            List<Delivery> heads =
                    back.stream().filter(head -> !lanes.wouldWait(head)).toList();
            another = heads.isEmpty() && !tried.judged().isEmpty();
            if (!heads.isEmpty()) {
                Delivery chosen = shared.gates().choose(stream, heads);
                lanes.enter(chosen);
                back.remove(chosen);
                begun = true;
            }
        } finally {
            if (another) {
                shared.gates().tryNext(stream, now);
            } else if (!begun) {
                // If one was chosen and could not enter, another is tried later, and others flow meanwhile.
                back.forEach(shared.gates()::gaveUp);
                shared.gates().nothingToTry(stream, now);
            }
            intake.release(back);
        }
        return true;
    }
}
