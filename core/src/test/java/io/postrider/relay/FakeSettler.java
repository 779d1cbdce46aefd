// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;

/** Settles what it was offered when a test says so, in the order of the offers. */
final class FakeSettler implements Settler {
    private record Offer(List<Delivery> published, Consumer<Boolean> told) {}

    private final FakeIntake intake;
    private final Queue<Offer> offers = new ArrayDeque<>();
    boolean refusing;

    FakeSettler(FakeIntake intake) {
        this.intake = intake;
    }

    @Override
    public boolean offer(List<Delivery> published, Consumer<Boolean> told) {
        return !refusing && offers.add(new Offer(published, told));
    }

    int offers() {
        return offers.size();
    }

    /** The oldest of its offers is settled, if there is any. */
    void settleNext() {
        Offer next = offers.poll();
        if (next != null) {
            intake.remove(next.published());
            next.told().accept(true);
        }
    }

    /** It is not known what became of the oldest of its offers. */
    void failNext(boolean afterwards) {
        Offer next = offers.poll();
        if (next != null) {
            if (afterwards) {
                intake.remove(next.published());
            }
            next.told().accept(false);
        }
    }

    @Override
    public void close() {}
}
