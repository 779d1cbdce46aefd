// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Feed;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** One worker: a relay that takes some streams of a competing feed, in the place that all workers of the feed share. */
final class CompetingMembership implements Membership {
    private final CompetingMember member;
    private final Feed.Joining joining;
    private final CompetingFeed.Part part;
    private final Supplier<ClaimStatements> statements;
    private final List<CompetingIntake> intakes = new CopyOnWriteArrayList<>();
    private volatile Report report = new Report(0, 0, Set.of());
    private volatile boolean wanted = true;
    private volatile LongConsumer due = nanos -> {};

    CompetingMembership(
            CompetingMember member,
            Feed.Joining joining,
            CompetingFeed.Part part,
            Supplier<ClaimStatements> statements) {
        this.member = member;
        this.joining = joining;
        this.part = part;
        this.statements = statements;
    }

    @Override
    public Intake intake(int loop) {
        CompetingIntake intake = new CompetingIntake(statements.get(), member, this, System::nanoTime);
        intakes.add(intake);
        return intake;
    }

    @Override
    public boolean onDue(LongConsumer due) {
        this.due = due;
        return true;
    }

    @Override
    public Duration tickEvery() {
        return member.settings().tickEvery();
    }

    @Override
    public void tick(Report report) {
        this.report = report;
        member.tick(this);
    }

    @Override
    public void wants(boolean share) {
        wanted = share;
    }

    @Override
    public void leave() {
        member.leave(this);
    }

    String name() {
        return joining.name();
    }

    boolean isOnePass() {
        return joining.onePass();
    }

    boolean wanted() {
        return wanted;
    }

    Report report() {
        return report;
    }

    Set<String> streams() {
        return part.streams();
    }

    Duration lease() {
        return part.lease();
    }

    /** @param dueIn in how many nanoseconds something is due, stream by stream */
    void due(Map<String, Long> dueIn) {
        streams().stream()
                .filter(dueIn::containsKey)
                .mapToLong(dueIn::get)
                .min()
                .ifPresent(due);
    }

    /** What is taken, and has the larger part of its lease behind it. */
    List<Delivery> ending(long now) {
        return intakes.stream()
                .flatMap(intake -> intake.taken().stream())
                .filter(each -> CompetingClaim.of(each).wantsExtension(now))
                .toList();
    }

    List<Long> takenIds() {
        return intakes.stream()
                .flatMap(intake -> intake.taken().stream())
                .map(Delivery::id)
                .toList();
    }

    void closed(CompetingIntake intake) {
        intakes.remove(intake);
    }
}
