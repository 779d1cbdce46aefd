// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Seen;
import io.postrider.jdbc.ShardStore.Survey;
import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.CommitIntake;
import io.postrider.relay.FeedException;
import io.postrider.relay.Intake;
import io.postrider.relay.Membership;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A relay's row and its shards.
 *
 * <p>Who may take a shard: only one who finds its owner's row gone, by compare-and-set on the epoch. Who may remove
 * another's row: only one who has seen its last beat and finds its lease run out. So a relay that lives loses nothing,
 * and one that was taken for dead finds its row gone at its next renewal, joins anew and owns nothing.
 */
final class OrderedMembership implements Membership {
    private static final Logger log = LoggerFactory.getLogger(OrderedMembership.class);

    private final String name;
    private final ShardStore statements;
    private final OrderedSettings settings;
    private final Ownership ownership;
    private final Intakes intakes;
    private final LongSupplier ticker;
    private final Housekeeping housekeeping;
    private final DeathWatch deaths;
    private final StandBack standBack = new StandBack();
    private volatile Wants wants;
    private Wants asking;

    /** Makes what the loops take from. */
    @FunctionalInterface
    interface Intakes {
        Intake of(int loop);

        default CommitIntake commits(Runnable passedOver) {
            throw new UnsupportedOperationException("Nothing is published on commit here");
        }
    }

    OrderedMembership(String name, Wants wants, OrderedFeed.Parts parts, Intakes intakes, LongSupplier ticker) {
        this.name = name;
        this.wants = wants;
        this.asking = wants;
        this.statements = parts.statements();
        this.settings = parts.settings();
        this.ownership = parts.ownership();
        this.intakes = intakes;
        this.ticker = ticker;
        this.housekeeping = parts.housekeeping();
        this.deaths = new DeathWatch(name, statements::declareDead, ticker);
    }

    /** Joins, and takes what is free at once. */
    void join() {
        ownership.joined(statements.join(name, wants));
        tick(new Report(0, 0, Set.of()));
    }

    @Override
    public Intake intake(int loop) {
        return intakes.of(loop);
    }

    @Override
    public CommitIntake commits(Runnable passedOver) {
        return intakes.commits(passedOver);
    }

    @Override
    public Duration tickEvery() {
        return settings.tickEvery();
    }

    @Override
    public void wants(boolean share) {
        wants = share ? Wants.SHARDS : Wants.REST;
    }

    @Override
    public void tick(Report report) {
        try {
            long before = ticker.getAsLong();
            Survey survey = statements.tick(ownership.member(), asking, report);
            if (!survey.renewed()) {
                log.warn("Relay {} was taken for dead; it joins anew and others go on with its events", name);
                ownership.joined(statements.join(name, asking));
                return;
            }
            ownership.renewed(before + settings.right().toNanos());
            Map<Integer, Long> owned = owned(survey);
            ownership.retain(owned);
            boolean someDied = deaths.declareDead(ownership.member(), survey.peers());
            boolean someFreed = releaseForgotten(owned);
            giveAndTake(someDied || someFreed ? statements.tick(ownership.member(), asking, report) : survey);
            asking = asked(report, survey.peers());
            if (wants != Wants.DRAIN && ownership.owns(Housekeeping.SHARD)) {
                housekeeping.whenOwner();
            }
        } catch (FeedException e) {
            deaths.forget();
            throw e;
        }
    }

    @Override
    public void leave() {
        Map<Integer, Long> owned = ownership.all();
        long member = ownership.member();
        ownership.joined(0);
        try {
            signOff(member, owned);
        } catch (FeedException e) {
            // A connection that broke while it was idle shows it only now, and others need not wait for that.
            signOff(member, owned);
        } finally {
            statements.close();
        }
    }

    private void signOff(long member, Map<Integer, Long> owned) {
        if (!owned.isEmpty()) {
            statements.release(member, owned);
        }
        statements.leave(member);
    }

    private Wants asked(Report report, List<Peer> peers) {
        List<Peer> others =
                peers.stream().filter(peer -> peer.id() != ownership.member()).toList();
        boolean back = wants == Wants.SHARDS && standBack.now(report.closed(), others, ticker.getAsLong());
        if (back && asking == Wants.SHARDS) {
            log.warn("Relay {} stands back for 30 s: others reach what it cannot ({})", name, report.closed());
        }
        return back ? Wants.REST : wants;
    }

    private Map<Integer, Long> owned(Survey survey) {
        return survey.shards().stream()
                .filter(seen -> seen.owner() == ownership.member())
                .collect(Collectors.toMap(Seen::shard, Seen::epoch));
    }

    /**
     * Gives up what the table says is this relay's but it does not know of: the answer to a take was lost, a release
     * failed, or a loop found the lease run out before it was renewed. Nobody else could ever take it. It is not simply
     * kept, since a release of before may still be on its way: taking it anew raises the epoch, and that comes too late.
     */
    private boolean releaseForgotten(Map<Integer, Long> owned) {
        Map<Integer, Long> forgotten = new HashMap<>(owned);
        forgotten.keySet().removeAll(ownership.all().keySet());
        if (!forgotten.isEmpty()) {
            statements.release(ownership.member(), forgotten);
        }
        return !forgotten.isEmpty();
    }

    private void giveAndTake(Survey survey) {
        Shares shares = Shares.of(ownership.member(), asking, survey, ownership.size());
        if (shares.surplus() > 0) {
            leaveSurplus(shares.surplus());
        } else {
            ownership.stay(ownership.leaving());
        }
        Map<Integer, Long> idle = ownership.withdrawIdle();
        if (!idle.isEmpty()) {
            statements.release(ownership.member(), idle);
            log.debug("Relay {} gave up {} shards, {} left", name, idle.size(), ownership.size());
        }
        if (!shares.free().isEmpty()) {
            ShardStore.Won won = statements.take(ownership.member(), shares.free());
            ownership.add(won);
            log.debug("Relay {} took {} shards and has {}", name, won.epochs().size(), ownership.size());
            long careful = won.left().values().stream()
                    .filter(left -> left.unclean() >= Suspects.CAREFUL_FROM)
                    .count();
            if (careful > 0) {
                log.warn(
                        "Relay {} sends what is left in {} shards with care, few at a time: their last owners ended while sending",
                        name,
                        careful);
            }
        }
    }

    private void leaveSurplus(int surplus) {
        int more = surplus - ownership.leaving().size();
        ownership.leave(ownership.readable().keySet().stream()
                .sorted(Comparator.comparing(shard -> !ownership.isIdle(shard)))
                .limit(Math.max(0, more))
                .toList());
    }
}
