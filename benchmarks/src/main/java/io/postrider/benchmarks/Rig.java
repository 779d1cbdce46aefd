// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.KafkaServer;
import io.postrider.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.postgresql.ds.PGSimpleDataSource;

/** The servers of one run, each in its own process: a PostgreSQL whose commits reach the disk, and a Kafka. */
final class Rig implements AutoCloseable {
    static final String TOPIC = "bench";
    static final int PARTITIONS = 8;

    private final PostgresServer postgres;
    private final KafkaServer kafka;
    private final PostgresServer.Database database;
    private final Admin admin;
    private final Cpu cpu;

    private Rig(PostgresServer postgres, KafkaServer kafka) {
        this.postgres = postgres;
        this.kafka = kafka;
        this.database = postgres.createDatabase();
        this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers()));
        this.cpu = new Cpu(Map.of("postgres", postgres.pid(), "kafka", kafka.pid()));
    }

    static Rig start() {
        PostgresServer postgres = PostgresServer.builder()
                .fsync(true)
                .setting("wal_level", "replica")
                .setting("shared_buffers", "512MB")
                // A checkpoint begins each round; none falls into one.
                .setting("max_wal_size", "16GB")
                .setting("checkpoint_timeout", "1h")
                .start();
        try {
            KafkaServer kafka = KafkaServer.builder()
                    .autoCreateTopics(false)
                    .setting("log.retention.check.interval.ms", "5000")
                    .jvmOptions("-Xmx512m")
                    .startProcess();
            // What has been counted may go: a run writes more than a disk should have to keep.
            kafka.createTopic(TOPIC, PARTITIONS, Map.of("segment.bytes", "67108864", "retention.bytes", "67108864"));
            Rig rig = new Rig(postgres, kafka);
            Schema.of(rig.dataSource()).apply(SchemaMode.MIGRATE);
            return rig;
        } catch (RuntimeException e) {
            postgres.close();
            throw e;
        }
    }

    /** Connections without a limit of time, since filling and vacuuming take long; not pooled. */
    PGSimpleDataSource dataSource() {
        PGSimpleDataSource source = postgres.dataSource(database.name());
        source.setSocketTimeout(0);
        return source;
    }

    PostgresServer postgres() {
        return postgres;
    }

    String databaseName() {
        return database.name();
    }

    String url() {
        return database.url();
    }

    String bootstrapServers() {
        return kafka.bootstrapServers();
    }

    Cpu cpu() {
        return cpu;
    }

    void sql(String... statements) {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The database refused " + String.join("; ", statements), e);
        }
    }

    long number(String sql) {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException("The database refused " + sql, e);
        }
    }

    String text(String sql) {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException("The database refused " + sql, e);
        }
    }

    /** The position in the log of the database, in bytes. */
    long walPosition() {
        return number("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
    }

    /** How many records the topic has had since its creation. */
    long topicEnd() throws Exception {
        Map<TopicPartition, OffsetSpec> all = partitions().stream()
                .collect(Collectors.toMap(partition -> partition, partition -> OffsetSpec.latest()));
        return admin.listOffsets(all).all().get().values().stream()
                .mapToLong(end -> end.offset())
                .sum();
    }

    static List<TopicPartition> partitions() {
        return IntStream.range(0, PARTITIONS)
                .mapToObj(number -> new TopicPartition(TOPIC, number))
                .toList();
    }

    @Override
    public void close() {
        admin.close();
        kafka.close();
        postgres.close();
    }
}
