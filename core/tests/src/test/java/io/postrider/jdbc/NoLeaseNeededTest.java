// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import io.postrider.relay.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is committed is leased only where that is of use: not where this relay reads everything, and keeps up. */
class NoLeaseNeededTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String FIRST = "the first of all";
    private static final String LEASED = "SELECT count(*) FROM outbox_event WHERE locked_by IS NOT NULL";

    private final TestDatabase database = TestDatabase.migrated();
    private final JdbcOutbox outbox = JdbcOutbox.of(database.dataSource()).withLease(Duration.ofMinutes(1));
    private final List<String> sent = Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<Void> answer = new CompletableFuture<>();
    private final List<Relay> relays = new ArrayList<>();

    /** Answers the first event of all at once: while it is leased its shard is held, and the loop soon behind. */
    private final Publisher held = event -> {
        sent.add(event.key().orElse("") + ":" + event.type());
        return event.type().equals(FIRST) ? CompletableFuture.completedFuture(null) : answer;
    };

    @AfterEach
    void close() {
        answer.complete(null);
        relays.forEach(Relay::close);
    }

    @Test
    void whoOwnsAllShardsIsWokenInsteadAndThatCountsToo() {
        Relay relay = started(from(held).publishesOnCommit(outbox.bell()));
        awaitShards();
        appendTheFirst();
        append("k", "first");
        append("j", "other");
        await().atMost(PATIENCE).until(() -> sent.size() == 3);
        assertThat(database.column("SELECT status FROM outbox_event")).containsExactly("PENDING", "PENDING");
        append("k", "second");
        assertThat(database.number(LEASED)).isZero();
        assertThat(relay.publishedOnCommitCount()).isEqualTo(1);
        answer.complete(null);
        await().atMost(PATIENCE).until(() -> relay.publishedOnCommitCount() == 4);
        assertThat(relay.publishedCount()).isEqualTo(4);
        assertThat(sent).containsSubsequence("k:first", "k:second").hasSize(4);
    }

    @Test
    void theFirstIsLeasedSoThatItIsSeenAtOnceWhetherTheWriterHasTheRightToIt() {
        started(from(held).publishesOnCommit(outbox.bell()));
        awaitShards();
        append("k", "not answered");
        assertThat(database.number(LEASED)).isEqualTo(1);
    }

    @Test
    void whatOthersCommittedDoesNotCount() {
        answer.complete(null);
        Relay relay = started(from(held).publishesOnCommit(outbox.bell()));
        awaitShards();
        appendTheFirst();
        database.event("s", "by another");
        append("k", "here");
        await().atMost(PATIENCE).until(() -> relay.publishedCount() == 3);
        assertThat(relay.publishedOnCommitCount()).isEqualTo(2);
    }

    @Test
    void whereAnotherRelayHasAPartItIsLeasedAgain() {
        started(from(held).publishesOnCommit(outbox.bell()));
        awaitShards();
        appendTheFirst();
        append("b", "not leased");
        assertThat(database.number(LEASED)).isZero();
        started(from(held).name("another"));
        await().atMost(PATIENCE).until(() -> {
            append("k" + database.number("SELECT count(*) FROM outbox_event"), "new");
            return database.number(LEASED) > 0;
        });
    }

    @Test
    void whereTheRelayIsBehindItIsLeasedAndOvertakesTheBacklogOfOtherKeys() {
        for (int i = 0; i < 50; i++) {
            database.event("s", "backlog" + i);
        }
        started(from(held).window(new Window(8, 1 << 20)).publishesOnCommit(outbox.bell()));
        awaitShards();
        append("a", "leased");
        await().atMost(PATIENCE).until(() -> {
            append("k" + database.number("SELECT count(*) FROM outbox_event"), "new");
            return database.number(LEASED) > 1;
        });
        await().atMost(PATIENCE).until(() -> sent.stream().anyMatch(each -> each.endsWith(":new")));
    }

    private void awaitShards() {
        await().atMost(PATIENCE).until(() -> database.number("SELECT count(owner) FROM outbox_shard") == 256);
    }

    private void appendTheFirst() {
        append("a", FIRST);
        await().atMost(PATIENCE)
                .until(() -> database.number("SELECT count(*) FROM outbox_event WHERE event_key = 'a'") == 0);
    }

    private void append(String key, String type) {
        outbox.transact(
                tx -> tx.append(OutboxEvent.of("s", type).key(key).json("{}").build()));
    }

    private RelaySettings.Builder from(Publisher publisher) {
        return Relay.from(OrderedFeed.of(database.dataSource())).to(publisher).idlePoll(Duration.ofMinutes(1));
    }

    private Relay started(RelaySettings.Builder settings) {
        Relay relay = settings.build();
        relays.add(relay);
        relay.start();
        return relay;
    }
}
