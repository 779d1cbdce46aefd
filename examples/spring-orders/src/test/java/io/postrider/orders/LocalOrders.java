// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The service on a PostgreSQL and a Kafka of its own, which end with it and leave nothing behind: {@code ./orders}. */
final class LocalOrders {
    private LocalOrders() {}

    /**
     * Runs until its standard input has a line or ends: a signal would end the servers at the same time as the service.
     *
     * @param args settings of the service, such as {@code --server.port=8080}
     */
    public static void main(String[] args) throws IOException {
        CompletableFuture<KafkaServer> starting = CompletableFuture.supplyAsync(LocalOrders::startKafka);
        try (PostgresServer postgres = PostgresServer.start();
                KafkaServer kafka = starting.join();
                ConfigurableApplicationContext context =
                        SpringApplication.run(OrdersApplication.class, settings(postgres, kafka, args))) {
            System.out.printf(
                    """

                    Orders      http://127.0.0.1:%s   Ctrl-C ends it all
                    PostgreSQL  psql -h 127.0.0.1 -p %d -U postgres
                    Kafka       %s, topic %s
                    """,
                    context.getEnvironment().getProperty("local.server.port"),
                    postgres.port(),
                    kafka.bootstrapServers(),
                    OrderService.STREAM);
            int unused = System.in.read();
        }
        System.out.println("All has ended");
    }

    private static KafkaServer startKafka() {
        KafkaServer kafka = KafkaServer.start();
        kafka.createTopic(OrderService.STREAM, 4);
        return kafka;
    }

    /** What is given comes last, and so wins. */
    private static String[] settings(PostgresServer postgres, KafkaServer kafka, String[] args) {
        List<String> all = new ArrayList<>(List.of(
                "--spring.datasource.url=" + postgres.url(),
                "--spring.kafka.bootstrap-servers=" + kafka.bootstrapServers(),
                "--spring.main.banner-mode=off",
                "--server.address=127.0.0.1"));
        if (Arrays.stream(args).noneMatch(arg -> arg.startsWith("--server.port="))) {
            all.add("--server.port=0");
        }
        all.addAll(Arrays.asList(args));
        return all.toArray(String[]::new);
    }
}
