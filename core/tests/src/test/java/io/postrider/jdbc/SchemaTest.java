// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.table.TableNames;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SchemaTest {
    private static final String APPLIED = "SELECT version || ' ' || script FROM outbox_meta ORDER BY version";
    private static final List<String> ALL = List.of("1 V1__outbox.sql", "2 V2__relay_version.sql");
    private static final String RELATIONS =
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                    + " WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')";

    @Test
    void migratingAnEmptyDatabaseMakesEverythingAndMigratingAgainChangesNothing() {
        TestDatabase database = TestDatabase.empty();
        Schema schema = Schema.of(database.dataSource());
        schema.apply(SchemaMode.MIGRATE);
        assertThat(database.column(APPLIED)).containsExactlyElementsOf(ALL);
        long relations = database.number(RELATIONS);
        schema.apply(SchemaMode.MIGRATE);
        schema.apply(SchemaMode.VALIDATE);
        assertThat(database.number(RELATIONS)).isEqualTo(relations);
        assertThat(database.column(APPLIED)).containsExactlyElementsOf(ALL);
        assertThat(Schema.latestVersion()).isEqualTo(Schema.scripts().size());
    }

    @Test
    void ofManyWhoMigrateAtOnceOneDoesItAndNobodyFails() throws Exception {
        TestDatabase database = TestDatabase.empty();
        int threads = 8;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch start = new CountDownLatch(threads);
            List<Future<?>> migrations = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                migrations.add(pool.submit(() -> {
                    start.countDown();
                    start.await();
                    Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
                    return null;
                }));
            }
            for (Future<?> migration : migrations) {
                migration.get();
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(database.column(APPLIED)).containsExactlyElementsOf(ALL);
    }

    @Test
    void tablesGoToTheNamedSchemaAndNowhereElse() {
        TestDatabase database = TestDatabase.empty();
        TableNames shop = new TableNames("shop");
        Schema.of(database.dataSource(), shop).apply(SchemaMode.MIGRATE);
        Schema.of(database.dataSource(), shop).apply(SchemaMode.VALIDATE);
        assertThat(database.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
                .isZero();
        assertThat(database.column("SELECT to_regclass('shop.outbox_event') IS NOT NULL"))
                .containsExactly("t");
        assertThat(database.number("SELECT shop.outbox_history_prepare(15)"))
                .as("its functions find its tables whatever the search_path is")
                .isEqualTo(1);
    }

    @Test
    void twoSchemasOfOneDatabaseAreIndependent() {
        TestDatabase database = TestDatabase.migrated();
        TableNames shop = new TableNames("shop");
        assertThatThrownBy(() -> Schema.of(database.dataSource(), shop).apply(SchemaMode.VALIDATE))
                .isInstanceOf(OutboxException.class);
        Schema.of(database.dataSource(), shop).apply(SchemaMode.MIGRATE);
        database.execute("DROP SCHEMA shop CASCADE");
        Schema.of(database.dataSource()).apply(SchemaMode.VALIDATE);
    }

    @Test
    void validatingAnEmptyDatabaseFailsWithSqlThatRunsAsItIsPrinted() {
        TestDatabase database = TestDatabase.empty();
        assertThatItsSqlRuns(database, TableNames.ofDefaults());
        assertThat(database.column(APPLIED)).containsExactlyElementsOf(ALL);
    }

    @Test
    void theSqlForANamedSchemaRunsAsItIsPrintedToo() {
        TestDatabase database = TestDatabase.empty();
        TableNames shop = new TableNames("shop");
        assertThatItsSqlRuns(database, shop);
        assertThat(database.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
                .isZero();
        JdbcOutbox.of(database.dataSource())
                .withTables(shop)
                .transact(tx -> tx.append(OutboxEvent.of("s", "T").build()));
        assertThat(database.number("SELECT count(*) FROM shop.outbox_event")).isEqualTo(1);
    }

    @Test
    void validatingTouchesNothing() {
        TestDatabase database = TestDatabase.empty();
        assertThatThrownBy(() -> Schema.of(database.dataSource()).apply(SchemaMode.VALIDATE))
                .isInstanceOf(OutboxException.class);
        assertThat(database.number(RELATIONS)).isZero();
    }

    @Test
    void aNewerDatabaseThatOlderLibrariesCanUseIsLeftAsItIs() {
        TestDatabase database = TestDatabase.migrated();
        database.execute("INSERT INTO outbox_meta (version, script, usable_from) VALUES (99, 'V99__future.sql', 1)");
        Schema schema = Schema.of(database.dataSource());
        schema.apply(SchemaMode.VALIDATE);
        schema.apply(SchemaMode.MIGRATE);
        assertThat(schema.version()).isEqualTo(99);
    }

    @Test
    void aDatabaseThatIsTooNewIsRefusedInBothModes() {
        TestDatabase database = TestDatabase.migrated();
        database.execute("INSERT INTO outbox_meta (version, script, usable_from) VALUES (98, 'V98__future.sql', 50),"
                + " (99, 'V99__future.sql', 1)");
        for (SchemaMode mode : List.of(SchemaMode.MIGRATE, SchemaMode.VALIDATE)) {
            assertThatThrownBy(() -> Schema.of(database.dataSource()).apply(mode))
                    .as(mode.name())
                    .isInstanceOf(OutboxException.class)
                    .hasMessage(
                            "Postrider's tables are at version 99 and can be used by libraries that know version 50 of"
                                    + " the tables or later; this one knows only " + Schema.latestVersion()
                                    + ". Use a newer library.");
        }
        Schema.of(database.dataSource()).apply(SchemaMode.NONE);
    }

    @Test
    void noneLooksAtNothing() {
        TestDatabase database = TestDatabase.empty();
        Schema.of(database.dataSource()).apply(SchemaMode.NONE);
        assertThat(database.number(RELATIONS)).isZero();
    }

    @Test
    void whoMayNotCreateTablesIsToldSoAndNothingIsChanged() {
        TestDatabase database = TestDatabase.empty();
        database.execute("CREATE TABLE outbox_event (id int)");
        assertThatThrownBy(() -> Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith(
                        "Postrider's tables could not be migrated: ERROR: relation \"outbox_event\" already exists")
                .hasMessageEndingWith(
                        ". The script that failed changed nothing. Migrate as the owner of the tables, who may create others,"
                                + " or run the scripts by hand.");
        assertThat(database.column("SELECT to_regclass('outbox_meta') IS NULL")).containsExactly("t");
    }

    @Test
    void whereAllIsDoneMigratingWritesNothing() throws SQLException {
        TestDatabase database = TestDatabase.migrated();
        try (OpenTransaction reading = database.begin()) {
            reading.execute("SET TRANSACTION READ ONLY");
            Schema.of(reading.dataSource()).apply(SchemaMode.MIGRATE);
            assertThatThrownBy(() -> reading.execute("CREATE TABLE forbidden (id int)"))
                    .hasStackTraceContaining("read-only transaction");
        }
    }

    @Test
    void theScriptsRunAsPlainStatements() throws SQLException {
        TestDatabase database = TestDatabase.empty();
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            for (Schema.Script script : Schema.scripts()) {
                statement.execute(script.sql());
            }
        }
        JdbcOutbox.of(database.dataSource())
                .transact(tx -> tx.append(OutboxEvent.of("s", "T").build()));
        assertThat(database.number("SELECT count(*) FROM outbox_event")).isEqualTo(1);
    }

    @Test
    void theHistoryHasPartitionsForTodayAndFourteenDays() {
        TestDatabase database = TestDatabase.migrated();
        assertThat(partitions(database))
                .isEqualTo(database.column("SELECT 'outbox_history_' || to_char(day, 'YYYYMMDD') FROM"
                        + " generate_series((clock_timestamp() AT TIME ZONE 'UTC')::date,"
                        + " (clock_timestamp() AT TIME ZONE 'UTC')::date + 14, '1 day') day"));
        assertThat(database.number("SELECT outbox_history_prepare(14)")).isZero();
        assertThat(database.number("SELECT outbox_history_prepare(16)")).isEqualTo(2);
        database.execute(historyRow("clock_timestamp() + interval '16 days'"));
        assertThatThrownBy(() -> database.execute(historyRow("clock_timestamp() + interval '18 days'")))
                .hasRootCauseInstanceOf(SQLException.class);
    }

    @Test
    void aPartitionIsAWholeDayInUtcWhateverTheSessionsTimeZoneIs() throws SQLException {
        TestDatabase database = TestDatabase.empty();
        database.execute("ALTER DATABASE \""
                + database.column("SELECT current_database()").get(0) + "\" SET timezone TO 'Pacific/Auckland'");
        Schema.of(database.dataSource()).apply(SchemaMode.MIGRATE);
        String today = database.column("SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD')")
                .get(0);
        database.execute(historyRow("date_trunc('day', clock_timestamp(), 'UTC')"));
        database.execute(
                historyRow("date_trunc('day', clock_timestamp(), 'UTC') + interval '24 hours - 1 microsecond'"));
        assertThat(database.number("SELECT count(*) FROM outbox_history_" + today))
                .isEqualTo(2);
    }

    @Test
    void onlyWholePartitionsThatAreOldAreDroppedOneAtATimeTheOldestFirst() {
        TestDatabase database = TestDatabase.migrated();
        List<String> kept = partitions(database);
        String tenDaysAgo = partition(database, 10);
        String nineDaysAgo = partition(database, 9);
        String sevenDaysAgo = partition(database, 7);
        assertThat(drop(database, "7 days")).isEqualTo(tenDaysAgo);
        assertThat(drop(database, "7 days")).isEqualTo(nineDaysAgo);
        assertThat(drop(database, "7 days"))
                .as("that day ended less than 7 days ago")
                .isEqualTo("null");
        List<String> rest = new ArrayList<>(List.of(sevenDaysAgo));
        rest.addAll(kept);
        assertThat(partitions(database)).isEqualTo(rest);
    }

    @Test
    void aReaderOfAnOldPartitionIsNotWaitedForLong() throws SQLException {
        TestDatabase database = TestDatabase.migrated();
        String old = partition(database, 10);
        try (Connection reader = database.connect();
                Statement reading = reader.createStatement();
                Connection dropper = database.connect();
                Statement dropping = dropper.createStatement()) {
            reader.setAutoCommit(false);
            reading.execute("SELECT count(*) FROM " + old);
            SQLException refused = catchThrowableOfType(
                    SQLException.class, () -> dropping.execute("SELECT outbox_history_drop(interval '7 days')"));
            assertThat(refused.getSQLState()).isEqualTo("55P03");
            assertThat(database.column("SELECT to_regclass('" + old + "') IS NOT NULL"))
                    .containsExactly("t");
            reader.rollback();
            dropping.execute("SELECT outbox_history_drop(interval '7 days')");
        }
        assertThat(partitions(database)).doesNotContain(old);
    }

    @Test
    void theShardFollowsFromTheKeyAloneOrFromTheEventIdIfThereIsNone() {
        TestDatabase database = TestDatabase.migrated();
        database.execute("INSERT INTO outbox_event (stream, event_type, event_key)"
                + " SELECT 's' || n % 3, 'T', CASE WHEN n % 4 > 0 THEN 'schlüssel-' || n / 3 END"
                + " FROM generate_series(1, 20000) n");
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE shard <>"
                        + " (hashtextextended(coalesce(event_key, event_id::text) COLLATE \"C\", 0) & 255)"))
                .isZero();
        assertThat(database.number("SELECT count(*) FROM outbox_event WHERE shard NOT BETWEEN 0 AND 255"))
                .isZero();
        assertThat(database.number("SELECT count(DISTINCT shard) FROM outbox_event"))
                .isEqualTo(256);
        assertThat(database.number("SELECT count(*) FROM (SELECT FROM outbox_event WHERE event_key IS NOT NULL"
                        + " GROUP BY event_key HAVING count(DISTINCT shard) > 1) split"))
                .isZero();
    }

    private static void assertThatItsSqlRuns(TestDatabase database, TableNames tables) {
        Schema schema = Schema.of(database.dataSource(), tables);
        OutboxException missing = catchThrowableOfType(OutboxException.class, () -> schema.apply(SchemaMode.VALIDATE));
        String message = String.valueOf(missing.getMessage());
        assertThat(message)
                .startsWith("Postrider's tables are at version 0 and this library needs " + Schema.latestVersion()
                        + ". Run the SQL below, or start with SchemaMode.MIGRATE.\n");
        database.execute(message.substring(message.indexOf('\n') + 1));
        schema.apply(SchemaMode.VALIDATE);
        schema.apply(SchemaMode.MIGRATE);
    }

    private static List<String> partitions(TestDatabase database) {
        return database.column("SELECT inhrelid::regclass::text FROM pg_inherits"
                + " WHERE inhparent = 'outbox_history'::regclass ORDER BY 1");
    }

    /** Makes the partition of some days ago. */
    private static String partition(TestDatabase database, int daysAgo) {
        String day = database.column("SELECT ((clock_timestamp() AT TIME ZONE 'UTC')::date - " + daysAgo + ")::text")
                .get(0);
        String name = "outbox_history_" + day.replace("-", "");
        database.execute("CREATE TABLE " + name + " PARTITION OF outbox_history FOR VALUES FROM ('" + day
                + " 00:00Z') TO ('" + day + " 24:00Z')");
        return name;
    }

    private static String drop(TestDatabase database, String keep) {
        return database.column("SELECT outbox_history_drop(interval '" + keep + "')")
                .get(0);
    }

    private static String historyRow(String settledAt) {
        return "INSERT INTO outbox_history (id, event_id, stream, event_type, payload_kept, headers, occurred_at,"
                + " attempt_count, created_at, outcome, settled_at, settled_by) SELECT 1, gen_random_uuid(), 's', 'T',"
                + " true, '{}', clock_timestamp(), 0, clock_timestamp(), 'PUBLISHED', " + settledAt + ", 'r'";
    }
}
