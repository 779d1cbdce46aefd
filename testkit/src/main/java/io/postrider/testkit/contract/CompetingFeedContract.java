// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.List;
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
        Member heir = join("heir", shortLease());
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
        append(event("k"));
        Member slow = join("slow", shortLease());
        Member other = join("other", shortLease());
        List<Delivery> taken = slow.takeSome();
        await().pollInterval(slow.membership.tickEvery())
                .during(shortLease().multipliedBy(3))
                .atMost(PATIENCE)
                .until(() -> {
                    slow.tick();
                    return other.take().isEmpty();
                });
        assertThat(taken.get(0).claim().mayStart(System.nanoTime())).isTrue();
        assertThat(slow.judge(taken, dead())).hasSize(1);
    }
}
