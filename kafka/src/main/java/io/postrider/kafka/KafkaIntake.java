// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Intake;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one consumer receives, for one loop. A settled record is finished, and committed once all before it are. What is dead
 * or unknown is written to the dead-letter topic first; until that has answered it holds its key, and is not handled again.
 */
final class KafkaIntake implements Intake {
    private static final Logger log = LoggerFactory.getLogger(KafkaIntake.class);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(5);
    private static final Duration LOOK_EVERY = Duration.ofMillis(10);

    private final ConsumerThread consumer;
    private final Arrivals arrivals;
    private final KafkaPublisher deadLetters;
    private final List<DeadLetter> leaving = new ArrayList<>();
    /** What the dead-letter topic has taken and nobody was told yet. */
    private final List<Verdict> written = new ArrayList<>();

    private Runnable look = () -> {};

    KafkaIntake(ConsumerThread consumer, KafkaPublisher deadLetters) {
        this.consumer = consumer;
        this.arrivals = consumer.arrivals();
        this.deadLetters = deadLetters;
    }

    void onArrival(Runnable look) {
        this.look = look;
        consumer.onArrival(look);
    }

    void wants(boolean share) {
        consumer.wants(share);
    }

    @Override
    public Taken take(Demand demand) {
        hearDeadLetters();
        Taken taken = arrivals.take(demand, System.nanoTime());
        Optional<Duration> due = leaving.isEmpty() ? taken.nextDue() : Optional.of(DeadLetter.SEND_AGAIN_AFTER);
        List<Verdict> judged = List.copyOf(written);
        written.clear();
        return new Taken(taken.deliveries(), taken.more(), due, judged, taken.complete());
    }

    @Override
    public void settle(List<Delivery> published) {
        arrivals.finish(published);
    }

    @Override
    public void settled(List<Delivery> gone) {
        arrivals.finish(gone);
    }

    @Override
    public List<Verdict> verdict(List<Verdict> verdicts) {
        List<Verdict> retried = new ArrayList<>();
        for (Verdict verdict : verdicts) {
            Delivery delivery = verdict.delivery();
            if (verdict.outcome() instanceof Outcome.Retry retry) {
                if (arrivals.retry(delivery, System.nanoTime() + retry.delay().toNanos())) {
                    retried.add(verdict);
                }
            } else {
                arrivals.leave(delivery)
                        .ifPresent(arrival -> leaving.add(new DeadLetter(
                                verdict, arrival, deadLetters, () -> arrivals.left(arrival), () -> look.run())));
            }
        }
        return retried;
    }

    @Override
    public void release(List<Delivery> deliveries) {
        arrivals.release(deliveries);
    }

    /** Called every second also by a loop that takes nothing, while its partitions are handed over. */
    @Override
    public void writeReleases() {
        hearDeadLetters();
    }

    @Override
    public int size() {
        return arrivals.taken();
    }

    /** What the dead-letter topic has not taken is sent again for as long as its partition is not another's. */
    private void hearDeadLetters() {
        Iterator<DeadLetter> all = leaving.iterator();
        while (all.hasNext()) {
            DeadLetter each = all.next();
            if (each.isTaken()) {
                written.add(each.verdict());
                all.remove();
            } else if (each.hasFailed() && each.isAnothers()) {
                all.remove();
            } else if (each.hasFailed()) {
                each.sendAgain(System.nanoTime());
            }
        }
    }

    /** Waits for the dead-letter topic, then has the consumer commit and leave its group. */
    @Override
    public void close() {
        long end = System.nanoTime() + STOP_LIMIT.toNanos();
        hearDeadLetters();
        while (!leaving.isEmpty() && end - System.nanoTime() > 0) {
            LockSupport.parkNanos(this, LOOK_EVERY.toNanos());
            // As in a relay's loop: an interrupt must not turn waiting into spinning.
            Thread.interrupted();
            hearDeadLetters();
        }
        if (!leaving.isEmpty()) {
            log.warn("The dead-letter topic did not answer; what was on its way there will be handled again");
        }
        consumer.end();
    }
}
