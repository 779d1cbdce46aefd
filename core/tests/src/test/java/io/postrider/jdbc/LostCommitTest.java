// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import io.postrider.relay.Relay;
import io.postrider.testkit.TcpProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The answer to the COMMIT of a handler is lost: the table tells whether it was done, and it is done once. */
class LostCommitTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource());
    private final AtomicInteger calls = new AtomicInteger();
    private TcpProxy proxy;

    @BeforeEach
    void open() {
        database.clear();
        database.execute("DROP TABLE IF EXISTS effect; CREATE TABLE effect (event_id uuid)");
        proxy = TcpProxy.to("127.0.0.1", ((PGSimpleDataSource) database.dataSource()).getPortNumbers()[0]);
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Test
    void aCommitThatWasDoneIsNotRepeated() {
        Relay relay = handleOne(() -> {
            proxy.swallowReplies();
            var unused = Background.start(() -> {
                await().until(() -> database.number("SELECT count(*) FROM effect") == 1);
                // What was swallowed makes the connection useless, so it is reset.
                proxy.pass();
                return true;
            });
        });
        try (relay) {
            await().until(() -> relay.publishedCount() == 1);
        }
        assertThat(calls).hasValue(1);
        assertThat(database.number("SELECT count(*) FROM effect")).isEqualTo(1);
        assertThat(database.number("SELECT attempt_count FROM outbox_history")).isZero();
    }

    @Test
    void aCommitThatNeverArrivedIsNoEffectAndNoAttempt() {
        Relay relay = handleOne(() -> {
            proxy.halfOpen();
            var unused = Background.start(() -> {
                await().until(() ->
                        database.number("SELECT count(*) FROM pg_stat_activity" + " WHERE application_name = 'handler'")
                                == 0);
                proxy.pass();
                return true;
            });
        });
        try (relay) {
            await().until(() -> relay.publishedCount() == 1);
        }
        assertThat(calls).as("rolled back the first time").hasValue(2);
        assertThat(database.number("SELECT count(*) FROM effect")).isEqualTo(1);
        assertThat(database.number("SELECT attempt_count FROM outbox_history")).isZero();
    }

    @Test
    void aHandlerWhoseCommitIsNeverAnsweredIsEndedByItsTimeoutAndTheTableIsAsked() {
        AtomicInteger connections = new AtomicInteger();
        DataSource proxied = proxied();
        Relay relay = handleOne(
                Duration.ofSeconds(3),
                proxy::swallowReplies,
                () -> connections.getAndIncrement() == 0 ? proxied : database.dataSource());
        try (relay) {
            await().until(() -> relay.publishedCount() == 1);
        }
        assertThat(calls).hasValue(1);
        assertThat(connections).as("one for the handler, one to look").hasValue(2);
        assertThat(database.number("SELECT count(*) FROM effect")).isEqualTo(1);
    }

    /** @param atFirstCommit run right before the first COMMIT of a handler is sent */
    private Relay handleOne(Runnable atFirstCommit) {
        DataSource proxied = proxied();
        return handleOne(Duration.ofMinutes(1), atFirstCommit, () -> proxied);
    }

    /** @param sources asked for each connection of a handler */
    private Relay handleOne(Duration within, Runnable atFirstCommit, Supplier<DataSource> sources) {
        DataSource throughProxy = committing(sources, atFirstCommit);
        Handlers handlers = Handlers.builder()
                .on("s", "T")
                .within(within)
                .settle(SameTransaction.of(throughProxy).run(payload -> payload, (payload, tx) -> {
                    calls.incrementAndGet();
                    insert(tx);
                }))
                .build();
        outbox.transact(
                tx -> tx.append(OutboxEvent.of("s", "T").key("k").json("{}").build()));
        Relay relay =
                Relay.from(OrderedFeed.of(database.dataSource())).to(handlers).build();
        relay.start();
        return relay;
    }

    private static void insert(SameTransaction.Tx tx) throws SQLException {
        try (PreparedStatement statement = tx.connection().prepareStatement("INSERT INTO effect VALUES (?)")) {
            statement.setObject(1, tx.context().event().id());
            statement.executeUpdate();
        }
    }

    private DataSource proxied() {
        PGSimpleDataSource direct = (PGSimpleDataSource) database.dataSource();
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {proxy.port()});
        source.setDatabaseName(direct.getDatabaseName());
        source.setUser(direct.getUser());
        source.setApplicationName("handler");
        return source;
    }

    private static DataSource committing(Supplier<DataSource> sources, Runnable atFirstCommit) {
        AtomicInteger commits = new AtomicInteger();
        return proxy(DataSource.class, (method, args) -> {
            Connection connection = (Connection) Objects.requireNonNull(call(sources.get(), method, args));
            return proxy(Connection.class, (called, with) -> {
                if (called.getName().equals("commit") && commits.getAndIncrement() == 0) {
                    atFirstCommit.run();
                }
                return call(connection, called, with);
            });
        });
    }

    private interface Call {
        @Nullable
        Object of(Method method, @Nullable Object @Nullable [] args) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                LostCommitTest.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> call.of(method, args)));
    }

    private static @Nullable Object call(Object target, Method method, @Nullable Object @Nullable [] args)
            throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
