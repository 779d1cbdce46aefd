// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.cli.config.DatabaseConfig;
import io.postrider.cli.config.RelayConfig;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.ops.Housekeeper;
import io.postrider.relay.Bell;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import javax.sql.DataSource;

/** A relay as its part of the file describes it. */
final class RunningRelay {
    private RunningRelay() {}

    /** What the relays of one database share. */
    record Shared(DataSource dataSource, Housekeeper housekeeper, Bell bell, RelayListener listener) {}

    /** Starts it; if that fails, nothing of it is left. */
    static Relay start(String name, DatabaseConfig database, RelayConfig config, Shared shared) {
        KafkaPublisher publisher = config.kafka().publisher().build();
        try {
            Relay relay = Relay.from(feed(database, config, shared))
                    .to(publisher)
                    .name(config.name().orElse(name))
                    .loops(config.loops())
                    .window(config.window())
                    .retry(config.retry())
                    .idlePoll(config.times().idlePoll())
                    .answerTimeout(config.times().answerTimeout())
                    .stopTime(config.times().stopTime())
                    .wokenBy(shared.bell())
                    .listener(listener(config, publisher, shared))
                    .build();
            relay.start();
            return relay;
        } catch (RuntimeException e) {
            publisher.close();
            throw e;
        }
    }

    private static OrderedFeed feed(DatabaseConfig database, RelayConfig config, Shared shared) {
        return OrderedFeed.builder(shared.dataSource())
                .tables(database.tables())
                .group(config.group())
                .streams(config.streams().toArray(StreamSettings[]::new))
                .lease(config.times().lease())
                .statementTimeout(config.times().statementTimeout())
                .housekeeper(shared.housekeeper())
                .build();
    }

    private static RelayListener listener(RelayConfig config, KafkaPublisher publisher, Shared shared) {
        return config.kafka().deadLetterTopic().isEmpty()
                ? shared.listener()
                : new WithCopies(shared.listener(), publisher.deadLetterCopies());
    }
}
