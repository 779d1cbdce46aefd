// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import io.postrider.OutboxEvent;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/** A {@link FakeIntake} for what is sent at its commit. */
final class FakeCommits extends FakeIntake implements CommitIntake {
    OptionalLong lessee = OptionalLong.empty();
    boolean ownsAll;
    int leasesKept;
    /** How many were given back, and that was told to those who may send them now. */
    int toldOf;

    private int returning;

    FakeCommits(LongSupplier ticker) {
        super(ticker);
    }

    @Override
    public OptionalLong lessee(OutboxEvent event) {
        return lessee;
    }

    @Override
    public boolean ownsAll() {
        return ownsAll;
    }

    @Override
    public void handOver(List<Bell.Handed> events) {}

    @Override
    public synchronized void release(List<Delivery> deliveries) {
        super.release(deliveries);
        returning += deliveries.size();
    }

    @Override
    public void writeReleases() {
        leasesKept++;
        returning = 0;
    }

    @Override
    public void giveBack() {
        toldOf += returning;
        returning = 0;
    }

    @Override
    public long settledCount() {
        return settled.size();
    }
}
