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
    public void writeReleases() {
        leasesKept++;
    }

    @Override
    public void giveBack() {}

    @Override
    public long settledCount() {
        return settled.size();
    }
}
