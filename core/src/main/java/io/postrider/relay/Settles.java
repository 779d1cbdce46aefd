// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.List;
import java.util.Optional;

/**
 * What a loop has delivered until it is recorded: first {@link Unsettled}, then, where it would keep the loop from reading,
 * {@link Aside}. For the loop's thread.
 */
final class Settles {
    private final Intake intake;
    private final Lanes lanes;
    private final Told told;
    private final Unsettled unsettled;
    private final Aside aside;

    /** @param wake has the loop call {@link #hear} soon; called from any thread */
    Settles(Intake intake, Lanes lanes, Shared shared, Runnable wake) {
        this.intake = intake;
        this.lanes = lanes;
        this.told = shared.told();
        this.unsettled = new Unsettled(shared.window().settleRows());
        this.aside = new Aside(intake.settler(), shared.window(), wake);
    }

    Unsettled waiting() {
        return unsettled;
    }

    /** Nothing has to be settled any more, and nothing is being settled. */
    boolean isEmpty() {
        return size() == 0;
    }

    int size() {
        return unsettled.size() + aside.rows();
    }

    /** Hears what was settled aside; returns whether anything was. */
    boolean hear() {
        boolean any = false;
        for (Optional<Aside.Ended> ended = aside.hear(); ended.isPresent(); ended = aside.hear()) {
            List<Told.Published> batch = ended.get().batch();
            if (ended.get().isSettled()) {
                intake.settled(deliveries(batch));
                batch.forEach(told::published);
                any = true;
            } else {
                // Done once more, by the loop itself, who finds out whether the database can be reached.
                batch.forEach(done -> lanes.countAgain(done.delivery()));
                unsettled.addAgain(batch);
            }
        }
        return any;
    }

    /**
     * Settles what waits for it.
     *
     * @param mayOverlap whether the loop would rather read meanwhile. What is settled aside takes no room from what is read; but what the
     *     next read would bring once more is settled before it
     * @return whether the feed was asked
     */
    boolean settle(boolean mayOverlap) {
        List<Told.Published> published = unsettled.all();
        boolean aside = mayOverlap && !unsettled.isUrgent() && this.aside.take(published);
        if (!aside) {
            intake.settle(deliveries(published));
        }
        published.forEach(done -> lanes.left(done.delivery()));
        if (!aside) {
            published.forEach(told::published);
        }
        unsettled.clear();
        return !aside;
    }

    private static List<Delivery> deliveries(List<Told.Published> published) {
        return published.stream().map(Told.Published::delivery).toList();
    }
}
