// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import io.postrider.relay.Relay;
import java.util.Locale;

/** A relay of ours in this JVM. */
final class RelayBacklog implements Backlog {
    private final Rig rig;
    private final History history;
    private final int loops;

    RelayBacklog(Rig rig, History history, int loops) {
        this.rig = rig;
        this.history = history;
        this.loops = loops;
    }

    @Override
    public String name() {
        return nameOf(history);
    }

    static String nameOf(History history) {
        return "history-"
                + (history == History.KEEP
                        ? "on"
                        : history.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    }

    @Override
    public String[] tables() {
        return new String[] {"outbox_event", "outbox_history"};
    }

    @Override
    public String countLeft() {
        return "SELECT count(*) FROM outbox_event";
    }

    @Override
    public long drain(int events) throws InterruptedException {
        long start = System.nanoTime();
        try (Relay relay = Relays.build(rig.dataSource(), rig.bootstrapServers(), history)
                .loops(loops)
                .build()) {
            relay.start();
            // Counted after they are settled.
            while (relay.publishedCount() < events) {
                Thread.sleep(1);
            }
            return System.nanoTime() - start;
        }
    }
}
