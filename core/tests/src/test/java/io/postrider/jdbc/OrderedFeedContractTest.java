// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.OutboxEvent;
import io.postrider.relay.Feed;
import io.postrider.testkit.contract.OrderedFeedContract;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;

class OrderedFeedContractTest extends OrderedFeedContract {
    private static final TestDatabase database = TestDatabase.migrated();

    @BeforeEach
    void clear() {
        database.clear();
    }

    @Override
    protected Feed feed(Duration lease) {
        return OrderedFeed.builder(database.dataSource()).lease(lease).build();
    }

    @Override
    protected void append(OutboxEvent event) {
        JdbcOutbox.of(database.dataSource()).transact(tx -> tx.append(event));
    }
}
