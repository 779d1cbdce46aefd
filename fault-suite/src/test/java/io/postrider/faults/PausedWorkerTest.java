// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.Publisher;
import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T09 of a competing stream: a worker sleeps through its leases. */
@Tag("T09")
@Tag("sample")
@DisplayName("A relay sleeps through its lease and wakes up")
class PausedWorkerTest {
    private static final int WINDOW = 200;
    /** And half a one. */
    private static final Duration THREE_LEASES = Duration.ofSeconds(Rig.LONG ? 35 : 7);

    private static final String SUSPENDED = "key-0007";

    @Test
    void aWorkerThatSleptThroughItsLeasesChangesNoRowUnderAnOldToken() {
        try (Rig rig = Rig.on(SharedServers.get(), "T09 paused worker")) {
            auditUpdates(rig.refuses());
            // It has an event whose refusal comes while it sleeps, so that it wakes up with a verdict to write.
            RelayChild sleeper = rig.start(
                            worker(rig.quickRelay("sleeper"), rig).refuse(SUSPENDED, Duration.ofSeconds(6)))
                    .awaitStarted();
            // With other keys at first, since the clock of the suspended one runs from its first event on.
            rig.start(rig.writers().rate(150).keys(3).events(20));
            Rig.await(
                    "the sleeper delivers",
                    () -> rig.firstSettled("sleeper", Instant.EPOCH).isPresent());
            LedgerWriters writers = rig.start(rig.writers().rate(150).keys(30));
            String suspended = sleeper.awaitLine("refusing ");
            sleeper.pause();
            rig.fault("SIGSTOP of a worker for three leases");
            Instant paused = Instant.now();
            // The heir has that event under way, so that only the token stands between the sleeper and the row. Its own
            // lease is long: the sleeper must not take from a heir that stands still for a moment.
            CompletableFuture<Void> answer = new CompletableFuture<>();
            Relay heir = rig.closing(RelayProcess.relay(
                    worker(rig.relay("heir"), rig), Trap.counting(), new RelayListener() {}, holding(answer)));
            heir.start();
            Rig.await(
                    "the heir has it",
                    () -> rig.number("SELECT count(*) FROM outbox_event e JOIN outbox_relay r"
                                    + " ON r.id = e.locked_by WHERE r.name = 'heir' AND e.event_id = '" + suspended
                                    + "'")
                            == 1);
            rig.figure("taken over in", Duration.between(paused, Instant.now()));
            Rig.pause(THREE_LEASES.minus(Duration.between(paused, Instant.now())));
            Instant resumed = Instant.now();
            sleeper.resume();
            Rig.await(
                    "the sleeper delivers again",
                    () -> rig.firstSettled("sleeper", resumed).isPresent());
            assertThat(rig.texts("SELECT revision || ' ' || attempt_count || ' ' || unclean_count FROM outbox_event"
                            + " WHERE event_id = '" + suspended + "'"))
                    .containsExactly("2 0 1");
            answer.complete(null);
            writers.stop();
            rig.assertSoundInAnyOrder(2 * WINDOW);
            assertThat(sleeper.stop().verdicts())
                    .as("verdicts that the sleeper tried to write")
                    .isPositive();
            assertThat(rig.texts("SELECT event_id || ' ' || was FROM updated WHERE relay = 'sleeper' AND stale"))
                    .isEmpty();
            assertThat(rig.number("SELECT count(*) FROM updated WHERE relay = 'heir'"))
                    .as("what may be written is seen by the audit")
                    .isPositive();
        }
    }

    /** Writes down who changed a row without a claim of its own that was still alive. */
    private static void auditUpdates(Rig rig) {
        rig.execute("CREATE TABLE updated (event_id uuid, relay text, stale boolean, was text)");
        rig.execute("""
                CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    INSERT INTO updated SELECT NEW.event_id, current_setting('application_name'),
                        OLD.locked_by IS NOT NULL AND OLD.due_at > clock_timestamp() AND coalesce(
                            (SELECT r.name <> current_setting('application_name') FROM outbox_relay r
                             WHERE r.id = OLD.locked_by), true),
                        concat_ws(' ', OLD.status, OLD.revision, OLD.locked_by);
                    RETURN NULL;
                END $$""");
        rig.execute("CREATE TRIGGER audit AFTER UPDATE ON outbox_event FOR EACH ROW EXECUTE FUNCTION write_down()");
    }

    /** Sends everything to Kafka, the events of the suspended key only once {@code answer} has come. */
    private static Publisher holding(CompletableFuture<Void> answer) {
        KafkaPublisher kafka = KafkaPublisher.create(
                Map.of("bootstrap.servers", SharedServers.get().kafka().bootstrapServers()));
        return new Publisher() {
            @Override
            public CompletionStage<?> publish(OutboxEvent event) {
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

    private static RelaySetup worker(RelaySetup setup, Rig rig) {
        return setup.window(WINDOW).competing(rig.stream());
    }
}
