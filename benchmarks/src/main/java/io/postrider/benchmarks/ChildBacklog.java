// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import java.util.ArrayList;
import java.util.List;

/** Relays of ours in JVMs of their own, which live through all rounds. */
final class ChildBacklog implements Backlog {
    private final String name;
    private final List<ChildRelay> relays = new ArrayList<>();

    ChildBacklog(String name, Rig rig, History history, int loops, String heap, int count) {
        this.name = name;
        for (int i = 0; i < count; i++) {
            relays.add(new ChildRelay(rig, history, loops, heap));
        }
    }

    @Override
    public String name() {
        return name;
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
        relays.forEach(ChildRelay::start);
        while (relays.stream().mapToLong(ChildRelay::published).sum() < events) {
            Thread.sleep(10);
        }
        long nanos = System.nanoTime() - start;
        relays.forEach(ChildRelay::stop);
        return nanos;
    }

    @Override
    public void close() {
        relays.forEach(ChildRelay::close);
    }
}
