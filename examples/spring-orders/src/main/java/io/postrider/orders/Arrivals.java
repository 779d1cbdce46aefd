// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The other side, which would be another service: reads the topic from its beginning and shows the last thousand events.
 * An event that comes twice is taken once.
 */
@RestController
class Arrivals implements SmartLifecycle {
    private static final int SHOWN = 1_000;
    private static final Duration POLL = Duration.ofSeconds(1);

    private final Map<String, Object> settings;
    private final Map<String, Arrival> byEventId = new LinkedHashMap<>();
    private @Nullable KafkaConsumer<String, String> consumer;
    private @Nullable Thread thread;

    Arrivals(@Value("${spring.kafka.bootstrap-servers}") String bootstrapServers) {
        settings = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.GROUP_ID_CONFIG,
                "arrivals-" + UUID.randomUUID(), // what is shown is in memory, so every start begins anew
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest");
    }

    @GetMapping("/arrivals")
    List<Arrival> shown() {
        synchronized (byEventId) {
            return List.copyOf(byEventId.values());
        }
    }

    @Override
    public synchronized void start() {
        KafkaConsumer<String, String> opened =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
        consumer = opened;
        thread = new Thread(() -> read(opened), "arrivals");
        thread.start();
    }

    private void read(KafkaConsumer<String, String> from) {
        try (from) {
            from.subscribe(List.of(OrderService.STREAM));
            while (true) {
                from.poll(POLL).forEach(record -> keep(Arrival.of(record)));
            }
        } catch (WakeupException stopped) {
            // by stop()
        }
    }

    private void keep(Arrival arrival) {
        synchronized (byEventId) {
            byEventId.putIfAbsent(arrival.eventId(), arrival);
            if (byEventId.size() > SHOWN) {
                byEventId.remove(byEventId.keySet().iterator().next());
            }
        }
    }

    @Override
    public synchronized void stop() {
        if (consumer != null && thread != null) {
            consumer.wakeup();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        consumer = null;
        thread = null;
    }

    @Override
    public synchronized boolean isRunning() {
        return consumer != null;
    }
}
