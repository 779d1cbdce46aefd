// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.internal.Sql;
import io.postrider.relay.Delivery;
import io.postrider.table.TableNames;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class SecondConnectionTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Sql SQL = new Sql(TableNames.ofDefaults());

    private final LinkedBlockingQueue<Boolean> told = new LinkedBlockingQueue<>();
    private Party owner;

    @BeforeEach
    void join() {
        database.clear();
        owner = Party.owning(database, "owner");
    }

    @AfterEach
    void close() {
        owner.close();
    }

    @Test
    void itTakesNothingBeforeItsConnectionIsThere() throws Exception {
        try (SecondConnection second = on(named())) {
            List<Delivery> deliveries = events(3);
            assertThat(second.offer(deliveries, told::add)).isFalse();
            await().until(() -> second.offer(deliveries, told::add));
            assertThat(told.poll(10, TimeUnit.SECONDS)).isTrue();
            assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
            assertThat(told).as("told once").isEmpty();
        }
    }

    @Test
    void whatItGetsWhileItSettlesIsSettledNext() throws Exception {
        try (SecondConnection second = on(named());
                OpenTransaction inTheWay = database.begin()) {
            List<Delivery> deliveries = events(3);
            await().until(() -> second.offer(List.of(), told::add));
            assertThat(told.poll(10, TimeUnit.SECONDS)).isTrue();
            inTheWay.execute("UPDATE outbox_event SET updated_at = updated_at");
            assertThat(second.offer(deliveries.subList(0, 1), told::add)).isTrue();
            assertThat(second.offer(deliveries.subList(1, 3), told::add)).isTrue();
            assertThat(told.poll(100, TimeUnit.MILLISECONDS)).isNull();
            inTheWay.rollback();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isTrue();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isTrue();
            assertThat(database.number("SELECT count(*) FROM outbox_event")).isZero();
        }
    }

    @Test
    void ifItsConnectionBreaksItSaysThatNobodyKnowsAndTakesNothingForAWhile() throws Exception {
        try (SecondConnection second = on(named())) {
            List<Delivery> deliveries = events(3);
            await().until(() -> second.offer(List.of(), told::add));
            assertThat(told.poll(10, TimeUnit.SECONDS)).isTrue();
            database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    + " WHERE pid <> pg_backend_pid() AND application_name = 'second'");
            assertThat(second.offer(deliveries, told::add)).isTrue();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isFalse();
            assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(3);
            assertThat(second.offer(deliveries, told::add)).isFalse();
            assertThat(second.offer(deliveries, told::add)).isFalse();
        }
    }

    @Test
    void ifThereIsNoConnectionToBeHadItTakesNothing() {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setServerNames(new String[] {"127.0.0.1"});
        nowhere.setPortNumbers(new int[] {1});
        try (SecondConnection second = on(nowhere)) {
            List<Delivery> deliveries = events(1);
            assertThat(second.offer(deliveries, told::add)).isFalse();
            await().pollDelay(Duration.ofMillis(200)).until(() -> true);
            assertThat(second.offer(deliveries, told::add)).isFalse();
            assertThat(told).isEmpty();
        }
    }

    @Test
    void itsConnectionIsClosedWithIt() {
        try (SecondConnection second = on(named())) {
            await().until(() -> second.offer(List.of(), told::add));
            assertThat(connections()).isEqualTo(1);
        }
        await().untilAsserted(() -> assertThat(connections()).isZero());
    }

    private static long connections() {
        return database.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'second'");
    }

    private List<Delivery> events(int count) {
        for (int i = 0; i < count; i++) {
            database.event("s", "k" + i);
        }
        return owner.read();
    }

    /** A source of its own, so that its connections can be told from others. */
    private static PGSimpleDataSource named() {
        PGSimpleDataSource other = (PGSimpleDataSource) database.dataSource();
        PGSimpleDataSource named = new PGSimpleDataSource();
        named.setUrl(other.getUrl());
        named.setUser(other.getUser());
        named.setApplicationName("second");
        return named;
    }

    private static SecondConnection on(DataSource source) {
        Session session = new Session(source, Duration.ofSeconds(30));
        return new SecondConnection("test", session, new Settling(session, SQL, "owner"));
    }
}
