// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.relay.Relay;
import java.sql.Connection;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** While one is neither delivered nor dead, there is no second event with its stream and dedup key. */
class DedupKeyTest extends OutboxRig {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void aSecondOneIsNotAppendedWhateverElseItSays() {
        outbox.transact(tx -> tx.append(job("first", "nightly").build()));
        outbox.transact(tx -> tx.append(job("second", "nightly").build()));
        outbox.transact(tx -> {
            tx.append(job("third", "nightly").build());
            tx.append(event("plain"));
            tx.append(job("other key", "hourly").build());
            tx.append(OutboxEvent.of("elsewhere", "T")
                    .key("other stream")
                    .dedupKey("nightly")
                    .build());
        });
        assertThat(keys()).containsExactly("first", "plain", "other key", "other stream");
    }

    @Test
    void noSecondOneGetsIntoABatchOfPlainAndOtherEvents() {
        outbox.transact(tx -> tx.append(List.of(
                event("plain"),
                job("first", "nightly").build(),
                job("second", "nightly").expiresIn(Duration.ofHours(1)).build(),
                job("other", "hourly").delay(Duration.ofHours(1)).build(),
                event("plain too"))));
        assertThat(keys()).containsExactly("plain", "first", "other", "plain too");
    }

    @Test
    void whatARollbackToASavepointTakesBackIsInNobodysWay() throws Exception {
        try (Connection connection = transaction()) {
            Savepoint savepoint = connection.setSavepoint();
            outbox.on(connection).append(job("first", "nightly").build());
            connection.rollback(savepoint);
            outbox.on(connection).append(job("second", "nightly").build());
            connection.commit();
        }
        assertThat(keys()).containsExactly("second");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anAppendWaitsForTheOneOfAnotherTransactionAndCountsIfThatRollsBack(boolean commits) throws Exception {
        try (OpenTransaction first = DATABASE.begin()) {
            outbox.on(first.connection()).append(job("first", "nightly").build());
            Background<Void> second = Background.start(() -> {
                outbox.transact(tx -> tx.append(job("second", "nightly").build()));
                return null;
            });
            first.awaitSomebodyBlocked();
            assertThat(second.isDone()).isFalse();
            if (commits) {
                first.commit();
            } else {
                first.rollback();
            }
            second.get();
        }
        assertThat(keys()).containsExactly(commits ? "first" : "second");
    }

    @Test
    void underRepeatableReadOneThatWasCommittedMeanwhileIsASerializationFailure() throws Exception {
        try (Connection connection = transaction()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            outbox.on(connection).append(event("sees what is there"));
            outbox.transact(tx -> tx.append(job("first", "nightly").build()));
            assertThatThrownBy(() -> outbox.on(connection)
                            .append(job("second", "nightly").build()))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("could not serialize access due to concurrent update");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"WAITING", "UNKNOWN"})
    void oneThatWaitsOrWhoseOutcomeIsUnknownIsInTheWay(String status) {
        outbox.transact(tx -> tx.append(job("first", "nightly").build()));
        DATABASE.execute("UPDATE outbox_event SET holds = true, status = '" + status + "'");
        outbox.transact(tx -> tx.append(job("second", "nightly").build()));
        assertThat(keys()).containsExactly("first");
    }

    @Test
    void aDeadOneIsInNobodysWayAndIsRequeuedBesideItsTwin() {
        outbox.transact(tx -> tx.append(job("first", "nightly").build()));
        DATABASE.execute("UPDATE outbox_event SET status = 'DEAD'");
        outbox.transact(tx -> tx.append(job("second", "nightly").build()));
        assertThat(keys()).containsExactly("first", "second");
        DeadLetters letters = DeadLetters.of(DATABASE.dataSource());
        assertThat(letters.requeue(letters.find(DeadLetterQuery.all()), new Actor("kim", "fixed")))
                .isEqualTo(1);
        assertThat(DATABASE.column("SELECT concat_ws(' ', event_key, status, dedup_key) FROM outbox_event ORDER BY id"))
                .containsExactly("first PENDING", "second PENDING nightly");
    }

    @Test
    void publishedOnCommitOneIsSentAndTheNextWhenItHasGone() {
        List<String> sent = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Void> first = new CompletableFuture<>();
        JdbcOutbox outbox = this.outbox.withLease(Duration.ofMinutes(1));
        DATABASE.leaveAShardToOthers();
        try (Relay relay = Relay.from(OrderedFeed.of(DATABASE.dataSource()))
                .to(event -> {
                    sent.add(event.key().orElseThrow());
                    return first;
                })
                .publishesOnCommit(outbox.bell())
                .build()) {
            relay.start();
            outbox.transact(tx -> tx.append(List.of(
                    job("first", "nightly").build(), job("twin", "nightly").build())));
            await().atMost(PATIENCE).until(() -> !sent.isEmpty());
            outbox.transact(
                    tx -> tx.append(job("while it is on its way", "nightly").build()));
            first.complete(null);
            await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 1);
            outbox.transact(tx -> tx.append(job("next", "nightly").build()));
            await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 2);
        }
        assertThat(sent).containsExactly("first", "next");
        assertThat(keys()).isEmpty();
        DATABASE.clear();
    }

    @Test
    void aPlainInsertKeepsToItToo() {
        String insert =
                "INSERT INTO outbox_event (stream, event_key, event_type, dedup_key) VALUES ('s', '%s', 'T', 'n')";
        DATABASE.execute(insert.formatted("first"));
        DATABASE.execute(insert.formatted("second") + " ON CONFLICT DO NOTHING");
        assertThat(keys()).containsExactly("first");
        assertThatThrownBy(() -> DATABASE.execute(insert.formatted("third")))
                .cause()
                .hasMessageContaining("duplicate key value violates unique constraint \"outbox_event_dedup\"");
        assertThatThrownBy(() -> DATABASE.execute(insert.replace("'n'", "repeat('n', 513)")))
                .cause()
                .hasMessageContaining("dedup_key must have 1 to 512 bytes");
    }

    private static OutboxEvent.Builder job(String key, String dedupKey) {
        return OutboxEvent.of("s", "T").key(key).dedupKey(dedupKey);
    }
}
