// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.postrider.OutboxEvent;
import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What a relay relies on in any feed: nothing is lost, nothing is handed to two who live, and only who is entitled judges. A
 * test plays the relays, one step at a time. Subclass {@link OrderedFeedContract} for a feed that keeps the order of keys,
 * {@link CompetingFeedContract} for one that does not.
 *
 * <pre>{@code
 * class MyFeedTest extends OrderedFeedContract {
 *     private final MyStore store = MyStore.empty();
 *
 *     @Override
 *     protected Feed feed(Duration lease) { return new MyFeed(store, lease); }
 *
 *     @Override
 *     protected void append(OutboxEvent event) { store.inTransaction(tx -> tx.append(event)); }
 * }
 * }</pre>
 *
 * <p>JUnit makes one instance per test, so a field as above gives every test a store of its own.
 */
public abstract sealed class FeedContract permits OrderedFeedContract, CompetingFeedContract {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofMinutes(5);
    private final List<Member> members = new ArrayList<>();

    /** For the two kinds of feeds. */
    FeedContract() {}

    /**
     * A feed on this test's own store.
     *
     * @param lease how long a member that is silent keeps its place
     */
    protected abstract Feed feed(Duration lease);

    /** Appends one event and commits. */
    protected abstract void append(OutboxEvent event);

    /** The shortest lease that the feed allows: for the tests that wait for the end of one. */
    protected Duration shortLease() {
        return Duration.ofSeconds(1);
    }

    @AfterEach
    final void everybodyLeaves() {
        List.copyOf(members).forEach(Member::leave);
    }

    @Test
    final void whatWasAppendedIsTakenAsItWas() {
        OutboxEvent event = OutboxEvent.of("stream", "Type")
                .aggregate("Order", "o-1")
                .key("key")
                .header("name", "välue")
                .payload(new byte[] {0, 1, -1}, "application/octet-stream")
                .maxAttempts(3)
                .build();
        append(event);
        List<Delivery> taken = join("one").takeSome();
        assertThat(taken).hasSize(1);
        assertThat(taken.get(0).attempts()).isZero();
        assertThat(taken.get(0).event()).usingRecursiveComparison().isEqualTo(event);
    }

    @Test
    final void whatIsTakenIsNotHandedOutAgain() {
        append(event("k"));
        Member member = join("one");
        assertThat(member.takeSome()).hasSize(1);
        assertThat(member.take()).isEmpty();
        assertThat(member.intake.size()).isEqualTo(1);
    }

    @Test
    final void whatIsSettledIsGone() {
        append(event("k"));
        Member member = join("one");
        member.intake.settle(member.takeSome());
        assertThat(member.intake.size()).isZero();
        assertThat(member.take()).isEmpty();
        member.leave();
        assertThat(join("two").take()).isEmpty();
    }

    @Test
    final void whatIsReleasedComesBackAsIfItHadNeverBeenTaken() {
        OutboxEvent event = event("k");
        append(event);
        Member member = join("one");
        member.intake.release(member.takeSome());
        assertThat(member.intake.size()).isZero();
        List<Delivery> again = member.takeSome();
        assertThat(ids(again)).containsExactly(event.id());
        assertThat(again.get(0).attempts()).isZero();
    }

    @Test
    final void aRetryComesBackWhenItIsDueWithItsAttemptCounted() {
        OutboxEvent event = event("k");
        append(event);
        Member member = join("one");
        assertThat(member.judge(member.takeSome(), retry(Duration.ofHours(1)))).hasSize(1);
        assertThat(member.take()).isEmpty();
        OutboxEvent soon = event("l");
        append(soon);
        member.judge(member.takeSome(), retry(Duration.ZERO));
        List<Delivery> again = member.takeSome();
        assertThat(ids(again)).containsExactly(soon.id());
        assertThat(again.get(0).attempts()).isEqualTo(1);
    }

    @Test
    final void whatIsDeadDoesNotComeBack() {
        append(event("k"));
        Member member = join("one");
        assertThat(member.judge(member.takeSome(), dead())).hasSize(1);
        assertThat(member.take()).isEmpty();
        assertThat(member.intake.size()).isZero();
    }

    @Test
    final void whatHasExpiredIsDeadInsteadOfHandedOutAndHoldsNobody() {
        OutboxEvent late = OutboxEvent.of("stream", "T")
                .key("k")
                .expiresIn(Duration.ofNanos(1000))
                .build();
        append(late);
        OutboxEvent behind = OutboxEvent.of("stream", "T")
                .key("k")
                .expiresIn(Duration.ofHours(1))
                .build();
        append(behind);
        Member member = join("one");
        List<Delivery> taken = new ArrayList<>();
        List<Verdict> judged = new ArrayList<>();
        await().atMost(PATIENCE).until(() -> {
            member.tick();
            Taken some = member.intake.take(everything());
            taken.addAll(some.deliveries());
            judged.addAll(some.judged());
            return !taken.isEmpty() && !judged.isEmpty();
        });
        assertThat(ids(taken)).containsExactly(behind.id());
        assertThat(judged).singleElement().satisfies(verdict -> {
            assertThat(verdict.delivery().event().id()).isEqualTo(late.id());
            assertThat(verdict.outcome()).isEqualTo(new Outcome.Expired());
        });
        member.intake.settle(taken);
        assertThat(member.take()).isEmpty();
        assertThat(member.intake.size()).isZero();
    }

    @Test
    final void aVerdictThatIsRepeatedIsWrittenOnce() {
        append(event("k"));
        Member member = join("one");
        List<Delivery> taken = member.takeSome();
        assertThat(member.judge(taken, retry(Duration.ZERO))).hasSize(1);
        assertThat(member.judge(taken, retry(Duration.ZERO))).isEmpty();
        assertThat(member.takeSome().get(0).attempts()).isEqualTo(1);
    }

    @Test
    final void noMoreIsTakenThanWasAskedForAndNoStreamThatWasLeftOut() {
        for (int i = 0; i < 10; i++) {
            append(event("k" + i));
        }
        append(OutboxEvent.of("other", "T").key("k").build());
        Member member = join("one");
        member.tick();
        assertThat(member.intake.take(Demand.of(3, 1000, Set.of())).deliveries())
                .hasSizeBetween(1, 3);
        assertThat(member.intake.take(Demand.of(100, 100_000, Set.of("stream"))).deliveries())
                .allMatch(delivery -> delivery.event().stream().equals("other"));
        assertThat(member.intake.take(Demand.trial("stream", 100, 100_000)).deliveries())
                .isNotEmpty()
                .allMatch(delivery -> delivery.event().stream().equals("stream"));
    }

    @Test
    final void twoWhoLiveShareWithoutTakingTheSame() {
        Member one = join("one");
        Member two = join("two");
        List<UUID> appended = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            OutboxEvent event = event("k" + i);
            append(event);
            appended.add(event.id());
        }
        List<UUID> got = new ArrayList<>();
        await().atMost(PATIENCE).until(() -> {
            got.addAll(ids(one.take(7)));
            got.addAll(ids(two.take(7)));
            return got.size() >= 40;
        });
        assertThat(got).containsExactlyInAnyOrderElementsOf(appended);
        assertThat(one.intake.size()).isPositive();
        assertThat(two.intake.size()).isPositive();
    }

    @Test
    final void whoIsSilentLosesItsPlaceAndItsSay() {
        OutboxEvent first = event("k");
        append(first);
        Member silent = join("silent", shortLease());
        List<Delivery> lost = silent.takeSome();
        Member heir = join("heir");
        List<Delivery> taken = heir.takeSome();
        assertThat(ids(taken)).containsExactly(first.id());
        assertThat(lost.get(0).claim().mayStart(System.nanoTime())).isFalse();
        assertThat(silent.judge(lost, dead())).isEmpty();
        assertThat(heir.judge(taken, dead())).hasSize(1);
    }

    @Test
    final void whoWasTakenForDeadComesBackAndTakesPartAgain() {
        Member silent = join("silent", shortLease());
        Member heir = join("heir", shortLease());
        append(event("k"));
        heir.intake.settle(heir.takeSome());
        await().atMost(PATIENCE).until(() -> {
            append(event(UUID.randomUUID().toString()));
            append(event(UUID.randomUUID().toString()));
            heir.take(1);
            return !silent.take().isEmpty();
        });
    }

    @Test
    final void whoLeavesLeavesEverythingToTheOthers() {
        Member one = join("one");
        Member two = join("two");
        for (int i = 0; i < 30; i++) {
            append(event("k" + i));
        }
        one.take();
        one.leave();
        List<UUID> got = new ArrayList<>();
        await().atMost(PATIENCE).until(() -> {
            got.addAll(ids(two.take()));
            return got.size() >= 30;
        });
        assertThat(got).doesNotHaveDuplicates().hasSize(30);
    }

    @Test
    final void whoWantsNoShareGetsNothingMore() {
        Member one = join("one");
        Member two = join("two");
        one.membership.wants(false);
        await().atMost(PATIENCE).until(() -> {
            one.tick();
            append(event(UUID.randomUUID().toString()));
            boolean nothing = one.intake.take(everything()).deliveries().isEmpty();
            return !two.take().isEmpty() && nothing;
        });
    }

    /** A relay, played by a test. */
    final class Member {
        final Membership membership;
        final Intake intake;

        Member(Membership membership) {
            this.membership = membership;
            this.intake = membership.intake(0);
        }

        void tick() {
            membership.tick(new Membership.Report(intake.size(), 0, Set.of()));
        }

        List<Delivery> take() {
            return take(1000);
        }

        /** Ticks and takes no more than this. */
        List<Delivery> take(int rows) {
            tick();
            return intake.take(Demand.of(rows, 1 << 20, Set.of())).deliveries();
        }

        /** Ticks and takes until there is something. */
        List<Delivery> takeSome() {
            List<Delivery> taken = new ArrayList<>();
            await().atMost(PATIENCE).until(() -> taken.addAll(take()));
            return taken;
        }

        List<Verdict> judge(List<Delivery> deliveries, Outcome.Failed outcome) {
            return intake.verdict(
                    deliveries.stream().map(d -> new Verdict(d, outcome)).toList());
        }

        void leave() {
            if (members.remove(this)) {
                intake.close();
                membership.leave();
            }
        }
    }

    final Member join(String name) {
        return join(name, LONG);
    }

    final Member join(String name, Duration lease) {
        Member member = new Member(feed(lease).join(new Feed.Joining(name, 1, false)));
        members.add(member);
        return member;
    }

    private static Demand everything() {
        return Demand.of(1000, 1 << 20, Set.of());
    }

    static OutboxEvent event(String key) {
        return OutboxEvent.of("stream", "T").key(key).text("payload").build();
    }

    static List<UUID> ids(List<Delivery> deliveries) {
        return deliveries.stream().map(delivery -> delivery.event().id()).toList();
    }

    static Outcome.Failed retry(Duration delay) {
        return new Outcome.Retry(delay, "BUSY", "busy");
    }

    static Outcome.Failed dead() {
        return new Outcome.Dead("BAD", "bad");
    }
}
