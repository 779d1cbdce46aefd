// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.util.concurrent.CompletableFuture;

/** A relay of an ordered feed in this JVM, to a publisher that answers at once. */
record OrderedBacklog(Rig rig, String name, int loops) implements Backlog {
    static final Publisher NOWHERE = event -> CompletableFuture.completedFuture(null);

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
        rig.sql("DELETE FROM outbox_stream");
        OrderedFeed feed = OrderedFeed.builder(rig.dataSource())
                .streams(StreamSettings.of(Rig.TOPIC).withHistory(StreamSettings.History.OFF))
                .build();
        return drain(Relay.from(feed), NOWHERE, loops, events);
    }

    static long drain(RelaySettings.To from, Publisher publisher, int loops, int events) throws InterruptedException {
        long start = System.nanoTime();
        try (Relay relay = from.to(publisher).loops(loops).build()) {
            relay.start();
            // Counted after they are settled.
            while (relay.publishedCount() < events) {
                Thread.sleep(1);
            }
            return System.nanoTime() - start;
        }
    }
}
