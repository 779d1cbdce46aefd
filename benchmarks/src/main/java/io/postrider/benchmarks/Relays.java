// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.jdbc.StreamSettings.History;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Relays as a user would have them: nothing but the history differs from the defaults. */
final class Relays {
    private Relays() {}

    static RelaySettings.Builder build(DataSource dataSource, String bootstrapServers, History history) {
        OrderedFeed feed = OrderedFeed.builder(dataSource)
                .streams(StreamSettings.of(Rig.TOPIC).withHistory(history))
                .build();
        return Relay.from(feed)
                .to(KafkaPublisher.create(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers)));
    }
}
