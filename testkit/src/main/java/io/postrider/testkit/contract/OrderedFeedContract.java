// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a relay relies on in a feed that keeps the order of keys, beside what it relies on in any. */
public abstract non-sealed class OrderedFeedContract extends FeedContract {

    /** For subclasses. */
    protected OrderedFeedContract() {}

    @Test
    final void eventsOfOneKeyComeInTheOrderInWhichTheyWereAppended() {
        List<UUID> appended = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            OutboxEvent event = event("k");
            append(event);
            appended.add(event.id());
        }
        Member member = join("one");
        List<UUID> got = new ArrayList<>();
        await().atMost(PATIENCE).until(() -> {
            got.addAll(ids(member.take(7)));
            return got.size() >= 20;
        });
        assertThat(got).isEqualTo(appended);
    }

    @Test
    final void aFailedEventHoldsBackItsOwnKeyOnly() {
        append(event("held"));
        Member member = join("one");
        List<Delivery> failed = member.takeSome();
        OutboxEvent behind = event("held");
        append(behind);
        OutboxEvent beside = event("free");
        append(beside);
        member.judge(failed, retry(Duration.ofHours(1)));
        assertThat(ids(member.takeSome())).containsExactly(beside.id());
        assertThat(member.take()).isEmpty();
    }

    @Test
    final void whoIsSilentKeepsItsFacts() {
        append(event("k"));
        Member silent = join("silent", shortLease());
        List<Delivery> lost = silent.takeSome();
        Member heir = join("heir");
        List<Delivery> taken = heir.takeSome();
        silent.intake.settle(lost);
        heir.intake.release(taken);
        assertThat(heir.take())
                .as("what was delivered is delivered, whoever says so")
                .isEmpty();
    }

    @Test
    final void itSaysThatItKeepsOrder() {
        assertThat(join("one").intake.keepsOrder()).isTrue();
    }
}
