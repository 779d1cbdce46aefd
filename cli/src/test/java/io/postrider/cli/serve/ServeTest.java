// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import static io.postrider.cli.serve.ServerProcess.LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.internal.JsonReader;
import io.postrider.jdbc.JdbcOutbox;
import io.postrider.ops.Relays;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.ChildJvm;
import io.postrider.testkit.DeliveryLog;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.Ledger;
import io.postrider.testkit.LedgerWriters;
import io.postrider.testkit.PostgresServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The relay server as a process, on a real PostgreSQL and a real Kafka. */
class ServeTest {
    private static final AtomicInteger STREAMS = new AtomicInteger();
    private static PostgresServer postgres;
    private static KafkaServer kafka;

    private final String stream = "events-" + STREAMS.incrementAndGet();
    private final Path directory;

    ServeTest(@TempDir Path directory) {
        this.directory = directory;
    }

    @BeforeAll
    static void start() {
        postgres = PostgresServer.builder().fsync(false).start();
        kafka = KafkaServer.start();
    }

    @AfterAll
    static void stop() {
        kafka.close();
        postgres.close();
    }

    @Test
    void itDeliversWhatIsWrittenAndASignalEndsItWithoutADuplicate() {
        PostgresServer.Database database = postgres.createDatabase();
        kafka.createTopic(stream, 2);
        String yaml = yaml("log: {format: json}", served("orders", database.url()));
        DeliveryLog log = DeliveryLog.inMemory();
        try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, stream)) {
            Ledger ledger;
            LedgerWriters writers;
            try (ServerProcess server = ServerProcess.start(directory, yaml)) {
                server.awaitReady();
                ledger = Ledger.create(database.dataSource());
                writers = writers(ledger, database).start();
                tap.awaitDistinct(200, LONG);
                assertThat(server.get("health/live").statusCode()).isEqualTo(200);
                assertThat(server.get("health/ready").body())
                        .contains("\"status\": \"up\"", "-orders-default\": \"up\"");
                Awaitility.await()
                        .atMost(LONG)
                        .untilAsserted(() -> assertThat(server.get("metrics").body())
                                .contains(
                                        "outbox_events_published_total{database=\"orders\",stream=\"" + stream + "\"}")
                                .contains("outbox_events_pending{database=\"orders\",stream=\"" + stream + "\"}")
                                .contains(
                                        "outbox_database_up{database=\"orders\"} 1.0",
                                        "hikaricp_connections_active",
                                        "jvm_"));
                assertThat(server.get("orders/api/overview").body()).contains(stream);
                assertThat(server.get("").headers().firstValue("location")).contains("./orders/");
                assertThat(server.get("orders").statusCode()).isEqualTo(302);
                assertThat(server.get("orders/").body()).contains("<title>Postrider</title>");
                assertThat(server.get("nowhere/").statusCode()).isEqualTo(404);
                assertThat(server.end()).isZero();
                assertThat(server.lines())
                        .allSatisfy(line -> assertThat(JsonReader.read(line))
                                .asInstanceOf(InstanceOfAssertFactories.MAP)
                                .containsKeys("time", "level", "logger", "message"));
                assertThat(server.lines()).anyMatch(line -> line.contains("\"message\": \"Postrider has stopped\""));
                assertThat(Relays.of(database.dataSource()).members())
                        .as("places that were not left")
                        .isEmpty();
            }
            try (ServerProcess again = ServerProcess.start(directory, yaml)) {
                again.awaitReady();
                writers.stop();
                assertThat(ledger.awaitDelivered(log, LONG)).isTrue();
                ledger.check(log).assertSound(0);
                assertThat(again.end()).isZero();
            } finally {
                writers.close();
            }
        }
    }

    @Test
    void afterAKillTheNextOneDeliversTheRest() {
        PostgresServer.Database database = postgres.createDatabase();
        kafka.createTopic(stream, 2);
        String yaml = yaml("", served("orders", database.url()).replace("loops: 1", "lease: 2s"));
        DeliveryLog log = DeliveryLog.inMemory();
        try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, stream)) {
            Ledger ledger = Ledger.create(database.dataSource());
            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
            try (LedgerWriters writers = writers(ledger, database).start()) {
                try (ServerProcess server = ServerProcess.start(directory, yaml)) {
                    tap.awaitDistinct(200, LONG);
                    server.child().kill();
                }
                try (ServerProcess next = ServerProcess.start(directory, yaml)) {
                    next.awaitReady();
                    writers.stop();
                    assertThat(ledger.awaitDelivered(log, LONG)).isTrue();
                    ledger.check(log).assertSound(10_000);
                    assertThat(next.end()).isZero();
                }
            }
        }
    }

    @Test
    void twoDatabasesAreServedAndOnlyThoseWhoSignInSeeThem() throws SQLException {
        PostgresServer.Database one = postgres.createDatabase();
        PostgresServer.Database two = postgres.createDatabase();
        kafka.createTopic(stream, 1);
        String yaml = yaml(
                "auth: {tokens: [{name: scraper, role: viewer, token: a-token-0123456789}],"
                        + " basic: [{name: kim, role: admin, password: a-password-0123}]}",
                served("one", one.url())
                        + served("two", two.url()).replace("schema-mode", "notify: false\n    schema-mode"));
        DeliveryLog log = DeliveryLog.inMemory();
        try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, stream);
                ServerProcess server = ServerProcess.start(directory, yaml)) {
            server.awaitReady();
            List.of(one, two).forEach(each -> append(each, 5));
            Awaitility.await().atMost(LONG).until(() -> listeners(one) == 1);
            assertThat(listeners(two)).isZero();
            tap.awaitDistinct(10, LONG);
            assertThat(server.get("").body()).contains("./one/", "./two/");
            assertThat(server.get("two/api/overview").statusCode()).isEqualTo(401);
            HttpResponse<String> refused = server.get("metrics");
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("www-authenticate")).contains("Basic realm=\"Postrider\"");
            String[] token = {"Authorization", "Bearer a-token-0123456789"};
            assertThat(server.get("two/api/overview", token).statusCode()).isEqualTo(200);
            // What has arrived is counted when it is settled.
            Awaitility.await()
                    .atMost(LONG)
                    .untilAsserted(() -> assertThat(server.get("metrics", token).body())
                            .contains("published_total{database=\"one\"", "published_total{database=\"two\""));
            assertThat(server.get("one/api/me", "Authorization", "Basic a2ltOmEtcGFzc3dvcmQtMDEyMw==")
                            .body())
                    .contains("kim", "ADMIN");
            assertThat(server.get("health/ready").body()).contains("\"one\"", "\"two\"");
            assertThat(server.end()).isZero();
            assertThat(server.lines()).noneMatch(line -> line.contains("a-token") || line.contains("a-password"));
        }
    }

    @Test
    void aDatabaseThatIsDownIsWaitedForWhileTheOthersAreServed() {
        try (PostgresServer late = PostgresServer.builder().fsync(false).start()) {
            PostgresServer.Database slow = late.createDatabase();
            PostgresServer.Database quick = postgres.createDatabase();
            late.stop();
            kafka.createTopic(stream, 1);
            String yaml = yaml("", served("slow", slow.url()) + served("quick", quick.url()));
            DeliveryLog log = DeliveryLog.inMemory();
            try (KafkaTap tap = KafkaTap.start(kafka.bootstrapServers(), log, stream);
                    ServerProcess server = ServerProcess.start(directory, yaml)) {
                Awaitility.await().atMost(LONG).untilAsserted(() -> {
                    HttpResponse<String> ready = server.get("health/ready");
                    assertThat(ready.statusCode()).isEqualTo(503);
                    assertThat(database(ready, "slow")).isEqualTo("down: it cannot be reached");
                    assertThat(database(ready, "quick")).isEqualTo("up");
                });
                assertThat(server.get("health/live").statusCode()).isEqualTo(200);
                append(quick, 3);
                tap.awaitDistinct(3, LONG);
                late.startAgain();
                server.awaitReady();
                append(slow, 3);
                tap.awaitDistinct(6, LONG);
                assertThat(server.end()).isZero();
                assertThat(server.lines().stream().filter(line -> line.contains("Database slow is not served")))
                        .hasSize(1);
            }
        }
    }

    @Test
    void tablesThatAreMissingAreWaitedForToo() {
        PostgresServer.Database database = postgres.createDatabase();
        String yaml = yaml("", served("orders", database.url()).replace("migrate", "validate"));
        try (ServerProcess server = ServerProcess.start(directory, yaml)) {
            server.child().awaitLine(line -> line.contains("its tables are missing or of another version"), LONG);
            assertThat(server.get("health/ready").body()).contains("its tables are missing or of another version");
            Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
            server.awaitReady();
            assertThat(server.end()).isZero();
        }
    }

    @Test
    void aFileWithMistakesEndsItAtOnce() {
        try (ChildJvm child = ServerProcess.child(directory, "databases: {orders: {url: nowhere, relay: []}}")) {
            assertThat(child.awaitExit(LONG)).hasValue(2);
            assertThat(child.lines())
                    .hasSize(2)
                    .allMatch(line -> line.startsWith("postrider: postrider.yaml:1: databases.orders."));
        }
    }

    /** Its status, and the reason if there is one. */
    private static String database(HttpResponse<String> health, String name) {
        Map<?, ?> body = (Map<?, ?>) Objects.requireNonNull(JsonReader.read(health.body()));
        Map<?, ?> databases = (Map<?, ?>) Objects.requireNonNull(body.get("databases"));
        Map<?, ?> database = (Map<?, ?>) Objects.requireNonNull(databases.get(name));
        return database.get("status") + (database.containsKey("reason") ? ": " + database.get("reason") : "");
    }

    private LedgerWriters.Builder writers(Ledger ledger, PostgresServer.Database database) {
        JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
        return ledger
                .writers((connection, event) -> outbox.on(connection).append(event))
                .threads(2)
                .keys(20)
                .rate(300)
                .stream(stream);
    }

    private void append(PostgresServer.Database database, int events) {
        Ledger ledger = Ledger.create(database.dataSource());
        try (LedgerWriters writers =
                writers(ledger, database).events(events).rollbacks(0).start()) {
            writers.awaitDone(LONG);
        }
    }

    /** Sessions that hear of commits: the last they asked is whether their server takes writes. */
    private static int listeners(PostgresServer.Database database) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM pg_stat_activity WHERE datname ="
                        + " current_database() AND pid <> pg_backend_pid() AND query LIKE 'SELECT%read_only%'")) {
            rows.next();
            return rows.getInt(1);
        }
    }

    private static String yaml(String more, String databases) {
        return "server: {port: 0}\nmetrics: {refresh: 500ms}\n" + more + "\ndatabases:\n" + databases;
    }

    private String served(String name, String url) {
        return """
                  %s:
                    url: '%s'
                    schema-mode: migrate
                    relays:
                      - loops: 1
                        kafka: {bootstrap-servers: '%s'}
                """.formatted(name, url, kafka.bootstrapServers());
    }
}
