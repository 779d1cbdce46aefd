// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.relay.RetryableFailureException;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T09: a relay stands still for longer than its lease, as in a long collection, and then goes on. */
@Tag("T09")
@Tag("sample")
@DisplayName("A relay sleeps through its lease and wakes up")
class PausedRelayTest {
    private static final int WINDOW = 200;
    /** And half a one. */
    private static final Duration THREE_LEASES = Duration.ofSeconds(Rig.LONG ? 35 : 7);

    private static final String SUSPENDED = "key-0003";
    private static final String REFUSED_BY_THE_HEIR = "key-0007";

    @Test
    void aRelayThatSleptThroughItsLeaseChangesNoRowAndJoinsAnew() {
        try (Rig rig = Rig.on(SharedServers.get(), "T09 paused relay")) {
            auditUpdates(rig.refuses());
            // It has an event whose refusal comes while it sleeps, so that it wakes up with a verdict to write.
            RelayChild sleeper = rig.start(
                            rig.quickRelay("sleeper").window(WINDOW).refuse(SUSPENDED, seconds(6)))
                    .awaitStarted();
            // Not before Kafka has answered it once: what waits for its topic would be an outage when it wakes up. With
            // other keys, since the clock of the suspended one runs from its first event on.
            rig.start(rig.writers().rate(150).keys(3).events(20));
            Rig.await(
                    "the sleeper delivers",
                    () -> rig.firstSettled("sleeper", Instant.EPOCH).isPresent());
            LedgerWriters writers = rig.start(rig.writers().rate(150).keys(30));
            String suspended = sleeper.awaitLine("refusing ");
            sleeper.pause();
            rig.fault("SIGSTOP of the owner for three leases");
            Instant paused = Instant.now();

            // The heir does not answer for that event, so that only the epoch stands between the sleeper and the row.
            // Its own lease is long: the sleeper must not take the place of a heir that stands still for a moment.
            CompletableFuture<Void> answer = new CompletableFuture<>();
            Relay heir = rig.closing(RelayProcess.relay(
                    rig.relay("heir").window(WINDOW), Trap.counting(), new RelayListener() {}, holding(answer)));
            heir.start();
            Rig.await("the heir delivers", () -> heir.publishedCount() > 100);
            rig.figure(
                    "taken over in",
                    rig.firstSettled("heir", paused)
                            .map(first -> Duration.between(paused, first))
                            .orElseThrow());
            Rig.pause(THREE_LEASES.minus(Duration.between(paused, Instant.now())));
            String before = row(rig, suspended);
            sleeper.resume();

            Rig.await("the sleeper joins anew and gets its share", () -> rig.number("""
                    SELECT count(*) FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner
                    WHERE r.name = 'sleeper'""") > 100);
            Instant rejoined = Instant.now();
            Rig.await(
                    "the sleeper delivers again",
                    () -> rig.firstSettled("sleeper", rejoined).isPresent());
            assertThat(row(rig, suspended)).isEqualTo(before).startsWith("PENDING, revision 0, attempts 0");
            answer.complete(null);
            writers.stop();
            rig.assertSound(2 * WINDOW);
            RelayChild.End end = sleeper.stop();

            assertThat(end.verdicts())
                    .as("verdicts that the sleeper tried to write")
                    .isPositive();
            assertThat(rig.texts("SELECT * FROM updated WHERE relay = 'sleeper' AND epoch_owner <> 'sleeper'"))
                    .isEmpty();
            assertThat(rig.texts("SELECT * FROM updated WHERE relay = 'sleeper' AND event_id = '" + suspended + "'"))
                    .isEmpty();
            assertThat(rig.number("SELECT count(*) FROM updated WHERE relay = 'heir' AND epoch_owner = 'heir'"))
                    .as("a verdict that may be written is seen by the audit")
                    .isPositive();
        }
    }

    /** Status, revision, attempts and the last transaction of an event's row. */
    private static String row(Rig rig, String eventId) {
        return rig.texts("SELECT status || ', revision ' || revision || ', attempts ' || attempt_count || ', xmin '"
                        + " || xmin FROM outbox_event WHERE event_id = '" + eventId + "'")
                .toString()
                .replaceAll("[\\[\\]]", "");
    }

    /** Writes down who changed a row, and who owned its shard then. */
    private static void auditUpdates(Rig rig) {
        rig.execute("CREATE TABLE updated (event_id uuid, relay text, epoch_owner text, at timestamptz)");
        rig.execute("""
                CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    INSERT INTO updated SELECT NEW.event_id, current_setting('application_name'),
                        coalesce((SELECT r.name FROM outbox_shard s JOIN outbox_relay r ON r.id = s.owner
                                  WHERE s.shard = NEW.shard), 'nobody'), clock_timestamp();
                    RETURN NULL;
                END $$""");
        rig.execute("CREATE TRIGGER audit AFTER UPDATE ON outbox_event FOR EACH ROW EXECUTE FUNCTION write_down()");
    }

    /**
     * Sends everything to Kafka, the events of the suspended key only once {@code answer} has come; refuses one event of another
     * key, so that there is a verdict that may be written.
     */
    private static Publisher holding(CompletableFuture<Void> answer) {
        AtomicBoolean refused = new AtomicBoolean();
        KafkaPublisher kafka = KafkaPublisher.create(
                Map.of("bootstrap.servers", SharedServers.get().kafka().bootstrapServers()));
        return new Publisher() {
            @Override
            public CompletionStage<?> publish(OutboxEvent event) {
                if (event.key().orElse("").equals(REFUSED_BY_THE_HEIR) && !refused.getAndSet(true)) {
                    return CompletableFuture.failedFuture(new RetryableFailureException("NO", "Refused once", null));
                }
                return event.key().orElse("").equals(SUSPENDED)
                        ? answer.thenCompose(any -> kafka.publish(event))
                        : kafka.publish(event);
            }

            @Override
            public void close() {
                kafka.close();
            }
        };
    }

    private static Duration seconds(long seconds) {
        return Duration.ofSeconds(seconds);
    }
}
