// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What a relay relies on in a feed that is a work queue, beside what it relies on in any. */
public abstract non-sealed class CompetingFeedContract extends FeedContract {

    /** For subclasses. */
    protected CompetingFeedContract() {}

    @Test
    final void itSaysThatItKeepsNoOrder() {
        assertThat(join("one").intake.keepsOrder()).isFalse();
    }

    @Test
    final void eventsOfOneKeyAreTakenByDifferentOnesAtTheSameTime() {
        Member one = join("one");
        Member two = join("two");
        append(event("k"));
        append(event("k"));
        assertThat(one.take(1)).hasSize(1);
        assertThat(two.take(1)).hasSize(1);
    }

    @Test
    final void aFailedEventHoldsBackNobody() {
        append(event("k"));
        append(event("k"));
        Member member = join("one");
        assertThat(member.judge(member.take(1), retry(Duration.ofHours(1)))).hasSize(1);
        assertThat(member.judge(member.take(1), dead())).hasSize(1);
        OutboxEvent behind = event("k");
        append(behind);
        assertThat(ids(member.takeSome())).containsExactly(behind.id());
    }

    @Test
    final void aSuccessIsAFactUntilAnotherHasTakenTheEvent() {
        append(event("k"));
        Member silent = join("silent", shortLease());
        List<Delivery> lost = silent.takeSome();
        Member heir = join("heir");
        List<Delivery> taken = heir.takeSome();
        silent.intake.settle(lost);
        assertThat(heir.judge(taken, retry(Duration.ZERO))).hasSize(1);
        List<Delivery> again = heir.takeSome();
        heir.intake.release(again);
        heir.intake.settle(again);
        assertThat(heir.take())
                .as("released, delivered none the less, and not taken again before that was known")
                .isEmpty();
    }

    @Test
    final void whatLastsLongerThanItsLeaseIsKeptByWhoTicks() {
        Member slow = join("slow", shortLease());
        Member other = join("other", shortLease());
        await().atMost(PATIENCE.multipliedBy(3)).until(() -> isKept(slow, other));
    }

    /** False where this thread stood still for so long that the lease did run out: that shows nothing. */
    private boolean isKept(Member slow, Member other) {
        long lease = shortLease().toNanos();
        long lastTick = System.nanoTime();
        append(event("k"));
        List<Delivery> taken = slow.takeSome();
        for (long end = System.nanoTime() + 3 * lease; end - System.nanoTime() > 0; ) {
            long before = System.nanoTime();
            slow.tick();
            List<Delivery> lost = other.take();
            if (System.nanoTime() - lastTick >= lease) {
                other.intake.settle(lost);
                slow.intake.settle(taken);
                return false;
            }
            assertThat(lost).isEmpty();
            lastTick = before;
            LockSupport.parkNanos(slow.membership.tickEvery().toNanos());
        }
        long before = System.nanoTime();
        slow.tick();
        boolean mayStart = taken.get(0).claim().mayStart(System.nanoTime());
        List<Verdict> judged = slow.judge(taken, dead());
        if (System.nanoTime() - before >= lease / 4) {
            slow.intake.settle(taken);
            return false;
        }
        assertThat(mayStart).isTrue();
        assertThat(judged).hasSize(1);
        return true;
    }
}
