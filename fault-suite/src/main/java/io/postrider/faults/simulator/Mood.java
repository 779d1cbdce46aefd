// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import java.time.Duration;
import java.util.List;

/**
 * What kind of day a seed has.
 *
 * @param calm nothing fails: relays only join, leave and rest, and nothing may be delivered twice
 * @param oneSided one relay alone cannot reach a destination, for longer than it waits before it stands back
 * @param commits some processes publish on commit what they write
 * @param eventLease for how long an event is leased to the process that writes it
 * @param deadly the id of an event that ends every relay that sends it; 0: none does
 * @param statementFaults how likely a statement of a relay fails in some way
 * @param slow how likely a step takes long
 * @param refusals how likely a destination refuses an event
 * @param doubts how likely a request or an answer is lost, late or wrong
 */
record Mood(
        boolean calm,
        boolean oneSided,
        boolean runs,
        int loops,
        int windowRows,
        Duration lease,
        boolean commits,
        Duration eventLease,
        long deadly,
        double statementFaults,
        double slow,
        double refusals,
        double doubts) {
    static final List<String> STREAMS = List.of("orders", "bills", "mails");
    /** Numbered from 1: without the first, nobody keeps house, which would need a thread. */
    static final int SHARDS = 6;

    static final Duration ANSWER_TIMEOUT = Duration.ofMillis(1_500);
    static final int ATTEMPTS = 3;

    static Mood of(Dice dice) {
        boolean calm = dice.chance(0.12);
        return new Mood(
                calm,
                !calm && dice.chance(0.004),
                dice.chance(0.6),
                1 + dice.below(2),
                dice.pick(List.of(1, 2, 4, 8, 40)),
                Duration.ofMillis(dice.pick(List.of(800, 1_200, 2_000))),
                dice.chance(0.5),
                Duration.ofMillis(dice.pick(List.of(900, 1_500, 3_000))),
                !calm && dice.chance(0.05) ? 1 + dice.below(12) : 0,
                calm ? 0 : dice.pick(List.of(0.0, 0.01, 0.05)),
                calm ? 0 : dice.pick(List.of(0.0, 0.01, 0.05)),
                calm ? 0 : dice.pick(List.of(0.0, 0.1, 0.3)),
                calm ? 0 : dice.pick(List.of(0.0, 0.03, 0.1)));
    }
}
