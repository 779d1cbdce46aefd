// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import io.postrider.server.DashboardServer;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;

/** What the demo says about itself before and after the run. */
final class Narration {
    private Narration() {}

    static void header(Console console, Options options) {
        String relays = options.relays() == 1 ? "one JVM carries" : options.relays() + " JVMs carry";
        console.line("""

                %s
                %d transfers of money, %d per second, through a real PostgreSQL and a real Kafka.

                  service    moves money and appends TransferCompleted in the same transaction
                  relays     %s what is committed to Kafka, in order per account
                  consumer   detects fraud, once per event: whatever comes twice is dropped
                """.formatted(
                        console.bold("Postrider, a transactional outbox"), options.events(), options.rate(), relays));
    }

    static void readNext(Console console) {
        console.line("""

                  Read next, in examples/demo/src/main/java/io/postrider/demo
                    TransferService.java   transfer(..): data and event in one commit
                    RelayMain.java         a whole relay
                    FraudDetection.java    a consumer that does not mind duplicates
                """.stripTrailing());
    }

    static void deadLetters(Console console, DashboardServer dashboard) {
        console.line("""

                  %s
                    They were too large for their topic, and died. The topic takes them now: requeue them all at
                    %s#/dead
                """.stripTrailing()
                .formatted(console.bold(Oversized.COUNT + " dead letters wait for you."), dashboard.url()));
    }

    static void lookAround(Console console, PostgresServer postgres, KafkaServer kafka, DashboardServer dashboard) {
        console.line("""

                  Still running; Ctrl-C ends it.
                    browser  %4$s
                    JDBC     jdbc:postgresql://127.0.0.1:%1$d/postgres?user=postgres
                    psql     psql -h 127.0.0.1 -p %1$d -U postgres
                    Kafka    %2$s, topic %3$s

                    SELECT name, in_flight, published, lease_until FROM outbox_relay;
                    SELECT settled_by, count(*) FROM outbox_history GROUP BY 1;
                    INSERT INTO outbox_event (stream, event_type, payload)
                      VALUES ('%3$s', 'TransferCompleted', '{"debtor": 1, "sequence": 0, "cents": 1}');
                    SELECT * FROM outbox_status;
                    SELECT * FROM risk_log ORDER BY position DESC LIMIT 5;
                """.stripTrailing()
                .formatted(postgres.port(), kafka.bootstrapServers(), TransferService.STREAM, dashboard.url()));
    }
}
