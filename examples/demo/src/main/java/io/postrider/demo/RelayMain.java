// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.jdbc.OrderedFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Relay;
import java.time.Duration;
import java.util.Map;
import org.postgresql.ds.PGSimpleDataSource;

/** A whole relay: carries what is committed to the outbox to Kafka, sharing the work with all other relays. */
final class RelayMain {
    static final String READY = "ready";

    private RelayMain() {}

    /** Takes its name, the URL of the database, Kafka's address, and the lease in seconds. */
    public static void main(String[] args) {
        PGSimpleDataSource database = new PGSimpleDataSource();
        database.setUrl(args[1]);

        Relay relay = Relay.from(OrderedFeed.builder(database)
                        .lease(Duration.ofSeconds(Long.parseLong(args[3])))
                        .build())
                .to(KafkaPublisher.create(Map.of("bootstrap.servers", args[2])))
                .name(args[0])
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(relay::close));
        relay.start();

        System.out.println(READY);
    }
}
