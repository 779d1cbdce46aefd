// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A feed with one table per loop; writes down what is asked of it. Thread-safe. */
final class FakeFeed implements Feed {
    final List<String> asked = new CopyOnWriteArrayList<>();
    final FakeIntake first = new FakeIntake(System::nanoTime);
    volatile boolean failing;
    volatile boolean failingToRenew;

    @Override
    public Membership join(Joining joining) {
        if (failing) {
            throw new FeedException("The table is out of reach", new IllegalStateException());
        }
        asked.add("join " + joining.name() + " with " + joining.loops() + " loops"
                + (joining.onePass() ? " for one pass" : ""));
        return new FakeMembership();
    }

    private final class FakeMembership implements Membership {
        @Override
        public Intake intake(int loop) {
            asked.add("intake " + loop);
            return loop == 0 ? first : new FakeIntake(System::nanoTime);
        }

        @Override
        public Duration tickEvery() {
            return Duration.ofMillis(5);
        }

        @Override
        public void tick(Report report) {
            if (failingToRenew) {
                throw new FeedException("The place is out of reach", new IllegalStateException());
            }
        }

        @Override
        public void wants(boolean share) {
            asked.add("wants " + share);
        }

        @Override
        public void leave() {
            asked.add("leave");
        }
    }
}
