// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import com.zaxxer.hikari.HikariDataSource;
import io.postrider.handler.EventBus;
import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.JdbcInbox;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.kafka.KafkaFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Feed;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RetryPolicy;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** One worker: its handlers, and where they are fed from. Only {@link #feed} knows whether there is a broker. */
final class WorkerMain {
    static final String READY = "ready";
    static final String NO_KAFKA = "-";

    private WorkerMain() {}

    /** Takes its role, its name, the URL of the database, that of the exchange, and Kafka's address or {@value #NO_KAFKA}. */
    public static void main(String[] args) {
        Role role = Role.valueOf(args[0]);
        HikariDataSource database = Database.pool(args[2], 10);
        Publisher destination = role == Role.RELAY
                ? KafkaPublisher.create(Map.of("bootstrap.servers", args[4]))
                : handlers(role, database, args[3]);
        Relay relay = Relay.from(feed(role, database, args[4]))
                .to(destination)
                .retry(RetryPolicy.brisk())
                .idlePoll(Duration.ofMillis(100))
                .name(args[1])
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(relay::close));
        relay.start();
        System.out.println(READY);
    }

    private static Publisher handlers(Role role, DataSource database, String exchange) {
        JdbcOutbox outbox = JdbcOutbox.of(database);
        EventBus bus = EventBus.ofTransactions();
        switch (role) {
            case ORDER_EXECUTOR -> OrderExecutor.subscribe(outbox, bus, new ExchangeClient(exchange));
            case NOTIFICATION -> Notifications.subscribe(outbox, bus);
            case BACKTEST -> Backtests.subscribe(outbox, JdbcInbox.of(database), bus);
            case SYSTEM -> KillSwitch.subscribe(outbox, bus);
            case RELAY -> throw new IllegalArgumentException("A relay has no handlers");
        }
        bus.settings().concurrency(6);
        return bus.handlers();
    }

    private static Feed feed(Role role, DataSource database, String kafka) {
        Duration lease = Duration.ofSeconds(2);
        StreamSettings[] streams =
                role.streams().stream().map(StreamSettings::of).toArray(StreamSettings[]::new);
        if (role == Role.RELAY) {
            return OrderedFeed.builder(database).lease(lease).build();
        }
        if (kafka.equals(NO_KAFKA) && role == Role.BACKTEST) {
            // A backtest has nothing to do with another: whoever is free takes the next.
            return CompetingFeed.builder(database)
                    .group(role.group())
                    .streams(streams)
                    .lease(lease)
                    .build();
        }
        if (kafka.equals(NO_KAFKA)) {
            return OrderedFeed.builder(database)
                    .group(role.group())
                    .streams(streams)
                    .lease(lease)
                    .build();
        }
        KafkaFeed.Builder feed = KafkaFeed.builder(Map.of(
                        "bootstrap.servers",
                        kafka,
                        "group.id",
                        role.group(),
                        "session.timeout.ms",
                        "6000",
                        "heartbeat.interval.ms",
                        "500"))
                .deadLetterTopic(role.deadLetterTopic());
        role.streams().forEach(feed::stream);
        return feed.build();
    }
}
