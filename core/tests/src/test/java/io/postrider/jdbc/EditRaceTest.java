// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.OutboxException;
import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Edit;
import io.postrider.relay.Delivery;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of several who edit one dead letter, or act on it otherwise, one does; what goes out is what that one wrote. */
class EditRaceTest {
    private static final TestDatabase database = TestDatabase.migrated();
    private static final Actor KIM = new Actor("kim", "typo");
    private static final Actor SAM = new Actor("sam", "other typo");
    private final DeadLetters deadLetters = DeadLetters.of(database.dataSource());
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
    void anEditedLetterGoesOutAsEditedBeforeLaterEventsOfItsKey() {
        long first = dead();
        long second = database.event("s", "k");
        Edit edit = Edit.none()
                .payload("fixed".getBytes(UTF_8))
                .contentType("text/plain")
                .headers(Map.of("h", "v"));
        assertThat(deadLetters.edit(found(), edit, KIM)).isTrue();
        List<Delivery> read = owner.read();
        assertThat(read).hasSize(2);
        assertThat(read.get(0).event().payload()).isEqualTo("fixed".getBytes(UTF_8));
        assertThat(read.get(0).event().contentType()).contains("text/plain");
        assertThat(read.get(0).event().headers()).isEqualTo(Map.of("h", "v"));
        assertThat(database.row(first, "status, holds, attempt_count")).isEqualTo("PENDING,f,0");
        assertThat(database.row(second, "convert_from(payload, 'UTF8')")).isEqualTo("x");
        assertThat(audit())
                .containsExactly(
                        "kim edit s typo [payload sha256 " + sha("x") + " -> " + sha("fixed") + ", other headers]");
    }

    @Test
    void whatIsNotGivenStays() {
        long id = dead();
        database.execute("UPDATE outbox_event SET headers = '{\"a\": 1}', content_type = 'c'");
        assertThat(deadLetters.edit(found(), Edit.none(), KIM)).isTrue();
        assertThat(database.row(id, "convert_from(payload, 'UTF8'), content_type, headers"))
                .isEqualTo("x,c,{\"a\": 1}");
    }

    @Test
    void aPayloadMayBeTakenAway() {
        long id = dead();
        assertThat(deadLetters.edit(found(), Edit.none().tombstone(), KIM)).isTrue();
        assertThat(database.row(id, "payload IS NULL")).isEqualTo("t");
        assertThat(audit()).containsExactly("kim edit s typo [payload sha256 " + sha("x") + " -> none]");
    }

    @Test
    void ofTwoWhoEditAtOnceOnlyTheFirstDoes() throws Exception {
        long id = dead();
        DeadLetter found = found();
        try (OpenTransaction kim = database.begin()) {
            assertThat(DeadLetters.of(kim.dataSource()).edit(found, payload("kim"), KIM))
                    .isTrue();
            Background<Boolean> sam = Background.start(() -> deadLetters.edit(found, payload("sam"), SAM));
            kim.awaitSomebodyBlocked();
            kim.commit();
            assertThat(sam.get()).isFalse();
        }
        assertThat(database.row(id, "convert_from(payload, 'UTF8'), revision")).isEqualTo("kim,1");
        assertThat(audit()).hasSize(1);
    }

    @Test
    void whatTheFirstTakesBackTheSecondEdits() throws Exception {
        long id = dead();
        DeadLetter found = found();
        try (OpenTransaction kim = database.begin()) {
            DeadLetters.of(kim.dataSource()).edit(found, payload("kim"), KIM);
            Background<Boolean> sam = Background.start(() -> deadLetters.edit(found, payload("sam"), SAM));
            kim.awaitSomebodyBlocked();
            kim.rollback();
            assertThat(sam.get()).isTrue();
        }
        assertThat(database.row(id, "convert_from(payload, 'UTF8')")).isEqualTo("sam");
        assertThat(audit())
                .containsExactly("sam edit s other typo [payload sha256 " + sha("x") + " -> " + sha("sam") + "]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"requeue", "discard", "unhold"})
    void whoEditsWhatAnotherHasActedOnChangesNothing(String action) throws Exception {
        dead();
        DeadLetter found = found();
        try (OpenTransaction kim = database.begin()) {
            DeadLetters hers = DeadLetters.of(kim.dataSource());
            assertThat(
                            switch (action) {
                                case "requeue" -> hers.requeue(List.of(found), KIM);
                                case "discard" -> hers.discard(List.of(found), KIM);
                                default -> hers.unhold(List.of(found), KIM);
                            })
                    .isEqualTo(1);
            Background<Boolean> sam = Background.start(() -> deadLetters.edit(found, payload("sam"), SAM));
            kim.awaitSomebodyBlocked();
            kim.commit();
            assertThat(sam.get()).isFalse();
        }
        assertThat(database.column("SELECT convert_from(payload, 'UTF8') FROM outbox_event"
                        + " UNION ALL SELECT convert_from(payload, 'UTF8') FROM outbox_history"))
                .containsExactly("x");
        assertThat(audit()).containsExactly("kim " + action + " s typo");
    }

    @Test
    void theOldDeliveryOfAnEditedEventCanNeitherSettleNorJudgeIt() {
        long id = database.event("s", "k");
        List<Delivery> old = owner.read();
        owner.dead(old);
        deadLetters.edit(found(), payload("new"), KIM);
        owner.events.settle(old);
        assertThat(owner.readIds()).containsExactly(id);
    }

    @Test
    void headersThatNoEventMayCarryAreRefused() {
        dead();
        DeadLetter found = found();
        assertThatThrownBy(() -> deadLetters.edit(found, Edit.none().headers(Map.of("Authorization", "b")), KIM))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("Dead letter " + found.eventId() + " was not edited")
                .hasMessageContaining("usually carries a credential");
        assertThat(audit()).isEmpty();
    }

    @Test
    void whatALetterSaysIsShownWhileItIsAsItWasFound() {
        dead();
        DeadLetter found = found();
        assertThat(deadLetters.content(found).orElseThrow().payload()).isEqualTo("x".getBytes(UTF_8));
        deadLetters.unhold(List.of(found), KIM);
        assertThat(deadLetters.content(found)).isEmpty();
    }

    @Test
    void allThatMatchAreMetOncePageByPage() {
        database.execute("INSERT INTO outbox_event (stream, event_type, status)"
                + " SELECT CASE WHEN n % 5 = 0 THEN 'other' ELSE 's' END, 'T', 'DEAD' FROM generate_series(1, 25) n");
        DeadLetterQuery query = DeadLetterQuery.all().stream("s").limit(4);
        assertThat(deadLetters.all(query, List::size)).isEqualTo(20);
        assertThat(deadLetters.all(query, page -> deadLetters.requeue(page, KIM)))
                .isEqualTo(20);
        assertThat(database.column("SELECT DISTINCT stream FROM outbox_event WHERE status = 'DEAD'"))
                .containsExactly("other");
        assertThat(audit()).hasSize(20);
    }

    private static long dead() {
        return database.event("s", "k", "status = 'DEAD', holds = true, attempt_count = 5");
    }

    private DeadLetter found() {
        return deadLetters.find(DeadLetterQuery.all()).get(0);
    }

    private static Edit payload(String text) {
        return Edit.none().payload(text.getBytes(UTF_8));
    }

    private static String sha(String text) {
        return database.column("SELECT encode(sha256('" + text + "'), 'hex')").get(0);
    }

    private static List<String> audit() {
        return database.column("SELECT concat_ws(' ', who, action, stream, reason) FROM outbox_audit ORDER BY id");
    }
}
