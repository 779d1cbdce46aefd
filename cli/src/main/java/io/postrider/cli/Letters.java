// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The dead letters that a command shall change: those named, or all that match. */
final class Letters {
    private static final int PAGE = 1000;

    @Parameters(paramLabel = "EVENT", arity = "0..*", description = "Event ids.")
    private List<UUID> events = new ArrayList<>();

    @Option(names = "--all", description = "All that match the filters.")
    private boolean all;

    @Mixin
    private DeadFilter filter = new DeadFilter();

    @Option(names = "--dry-run", description = "Show what would be changed, and change nothing.")
    private boolean dryRun;

    /**
     * Changes them, or shows which would be.
     *
     * @param done what was done to them, in the words of the last line: "requeued"
     */
    int change(Console console, String done, Signature signature, Action action) {
        if (events.isEmpty() != all) {
            throw new Refusal(Exit.USAGE, "Name the events, or give --all with filters, such as --all --stream NAME.");
        }
        if (!all && !filter.isEmpty()) {
            throw new Refusal(Exit.USAGE, "Filters go with --all; the events named are chosen already.");
        }
        DeadLetters dead =
                DeadLetters.of(console.access().dataSource(), console.access().tables());
        if (dryRun) {
            return preview(console, dead, done);
        }
        Act act = page -> action.on(dead, page, signature);
        signature.actor();
        long changed = all ? dead.all(filter.query(0, PAGE), act) : act.applyAsInt(named(console, dead));
        console.say(changed + " " + done + ".");
        if (changed == 0) {
            console.remark("postrider: nothing was changed. Look again: postrider dead list");
        }
        return changed == 0 ? Exit.NOTHING : Exit.DONE;
    }

    private int preview(Console console, DeadLetters dead, String done) {
        long found;
        if (all) {
            DeadListCommand.table().print(console.out(), dead.find(filter.query(0, 20)), false);
            found = dead.all(filter.query(0, PAGE), List::size);
        } else {
            List<DeadLetter> letters = named(console, dead);
            DeadListCommand.table().print(console.out(), letters, false);
            found = letters.size();
        }
        console.say(found + " would be " + done + (all && found > 20 ? ", the first 20 of which are shown." : "."));
        return found == 0 ? Exit.NOTHING : Exit.DONE;
    }

    private List<DeadLetter> named(Console console, DeadLetters dead) {
        List<DeadLetter> found = new ArrayList<>();
        for (UUID event : events) {
            List<DeadLetter> one = dead.find(DeadLetterQuery.all().eventId(event));
            if (one.isEmpty()) {
                console.remark("postrider: event " + event
                        + " is no dead letter. Look where it is: postrider events --id " + event);
            }
            found.addAll(one);
        }
        return found;
    }

    /** Requeue, discard or unhold. */
    interface Action {
        int on(DeadLetters dead, List<DeadLetter> letters, Signature signature);
    }

    private interface Act extends ToIntFunction<List<DeadLetter>> {}
}
