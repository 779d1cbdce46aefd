// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

/** {@link RowClaimBacklog} without a broker: claims a batch, reads it, and marks it as published. */
final class RowClaimQueue implements Backlog {
    private final Rig rig;

    RowClaimQueue(Rig rig) {
        this.rig = rig;
        RowClaimBacklog.makeTable(rig);
    }

    @Override
    public String name() {
        return "row-claim";
    }

    @Override
    public String[] tables() {
        return new String[] {"row_claim"};
    }

    @Override
    public String countLeft() {
        return RowClaimBacklog.COUNT_LEFT;
    }

    @Override
    public long drain(int events) throws Exception {
        return RowClaimBacklog.work(rig, batch -> {});
    }
}
