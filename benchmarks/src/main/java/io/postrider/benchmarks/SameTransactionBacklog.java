// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postrider.handler.Handlers;
import io.postrider.handler.SettlingHandler;
import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.SameTransaction;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Relay;

/**
 * Handlers without an effect, over a competing feed, that settle in their own transactions.
 *
 * @param most how many events share a transaction
 */
record SameTransactionBacklog(Rig rig, String name, int loops, int connections, int most) implements Backlog {

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
        CompetingFeed feed = CompetingFeed.builder(rig.dataSource())
                .streams(StreamSettings.of(Rig.TOPIC).withHistory(StreamSettings.History.OFF))
                .build();
        HikariConfig config = new HikariConfig();
        config.setDataSource(rig.dataSource());
        config.setMaximumPoolSize(connections);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Handlers handlers = Handlers.builder()
                    .concurrency(connections)
                    .otherwise()
                    .settle(handler(SameTransaction.of(pool)))
                    .build();
            return OrderedBacklog.drain(Relay.from(feed), handlers, loops, events);
        }
    }

    private SettlingHandler handler(SameTransaction once) {
        return most == 1
                ? once.run(bytes -> bytes, (bytes, tx) -> {})
                : once.batches(most, bytes -> bytes, (messages, tx) -> {});
    }
}
