// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Actor;
import io.postrider.ops.Unknowns;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Which unknown events to act on: each by its id, since each must have been looked into. */
final class UnknownEvents {
    @Parameters(paramLabel = "EVENT", arity = "1..*", description = "Event ids.")
    private List<UUID> events = new ArrayList<>();

    @Mixin
    private Signature signature = new Signature();

    /** Done, retry or dead. */
    interface Action {
        boolean on(Unknowns unknowns, UUID event, Actor actor);
    }

    /** @param done what was done to them, in the words of the last line */
    int change(Console console, String done, Action action) {
        Actor actor = signature.actor();
        Unknowns unknowns =
                Unknowns.of(console.access().dataSource(), console.access().tables());
        int changed = 0;
        for (UUID event : events) {
            if (action.on(unknowns, event, actor)) {
                changed++;
            } else {
                console.remark("postrider: event " + event + " is not unknown. Look where it is: postrider events --id "
                        + event);
            }
        }
        console.say(changed + " " + done + ".");
        return changed == 0 ? Exit.NOTHING : Exit.DONE;
    }
}
