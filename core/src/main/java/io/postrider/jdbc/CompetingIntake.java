// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Demand;
import io.postrider.relay.FeedException;
import io.postrider.relay.Intake;
import io.postrider.relay.Outcome;
import io.postrider.relay.Taken;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one loop has leased. Taking a row writes to it, and so does giving it back. {@link #taken} is for any thread, the rest
 * for that of its loop.
 */
final class CompetingIntake implements Intake {
    static final String LEASES_RAN_OUT = "LEASES_RAN_OUT";

    /** How long until suspects of the other kind are looked for. */
    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);

    /** With more, the server would write what a claim brings to a temporary file before it sends it. */
    private static final int MOST_ROWS = 2_000;

    private static final Logger log = LoggerFactory.getLogger(CompetingIntake.class);

    private final ClaimStatements statements;
    private final CompetingMember member;
    private final CompetingMembership worker;
    private final LongSupplier ticker;
    private final ConcurrentMap<Long, Delivery> taken = new ConcurrentHashMap<>();
    private final Set<Delivery> returning = new LinkedHashSet<>();
    /** Those of what is taken that may end this process. */
    private final Set<Delivery> suspects = new HashSet<>();

    private LeftBehind wanted = LeftBehind.ONCE;
    /** Of how many kinds there may be suspects that nobody has looked for. */
    private int unseen = 2;

    private boolean backlog;
    private int firstShard = ThreadLocalRandom.current().nextInt(Ownership.SHARDS);

    CompetingIntake(
            ClaimStatements statements, CompetingMember member, CompetingMembership worker, LongSupplier ticker) {
        this.statements = statements;
        this.member = member;
        this.worker = worker;
        this.ticker = ticker;
    }

    @Override
    public boolean keepsOrder() {
        return false;
    }

    @Override
    public Taken take(Demand demand) {
        writeReleases();
        Map<String, Integer> rooms = worker.wanted() ? rooms(demand) : Map.of();
        if (rooms.isEmpty()) {
            return Taken.nothing();
        }
        // One is enough to try a destination: the next time it is one of another shard.
        int rows = demand.only() == null ? Math.min(demand.rows(), MOST_ROWS) : 1;
        LeftBehind some = suspects.isEmpty() && member.suspects().take(this) ? wanted : LeftBehind.NONE;
        ClaimStatements.Query query = new ClaimStatements.Query(
                member.id(),
                member.settings().group(),
                rooms,
                rows,
                demand.bytes(),
                worker.lease(),
                maybeDue(),
                some,
                backlog ? Spans.abreast(firstShard, rows) : Spans.round(firstShard, rows));
        ClaimStatements.Found found;
        try {
            found = member.claiming(() -> {
                ClaimStatements.Found claimed = statements.claim(query);
                claimed.leased().forEach(this::took);
                return claimed;
            });
        } finally {
            giveRightUpIfUnused();
        }
        boolean full = isFull(found.leased(), query);
        boolean lookAgain = sawSuspects(some, !full && isEverywhere(demand, rooms.keySet()));
        // What stood abreast and brought too little may have left much of a few shards.
        boolean more = full || backlog;
        backlog = full;
        goOnFrom(found.leased());
        return handOut(found, more, lookAgain);
    }

    private void took(ClaimStatements.Leased leased) {
        taken.put(leased.delivery().id(), leased.delivery());
        if (leased.runOut() > 0) {
            suspects.add(leased.delivery());
        }
    }

    private void giveRightUpIfUnused() {
        if (suspects.isEmpty()) {
            member.suspects().giveUp(this);
        }
    }

    /** Whether no stream is left out but those whose destination takes nothing. */
    private boolean isEverywhere(Demand demand, Set<String> streams) {
        return demand.only() == null
                && worker.streams().stream()
                        .allMatch(stream ->
                                streams.contains(stream) || demand.closed().contains(stream));
    }

    /** Returns whether suspects of the other kind are to be looked for soon. */
    private boolean sawSuspects(LeftBehind some, boolean lookedEverywhere) {
        if (!suspects.isEmpty()) {
            unseen = 2;
            return false;
        }
        if (some == LeftBehind.NONE) {
            return false;
        }
        wanted = some.other();
        if (!lookedEverywhere) {
            return false;
        }
        unseen = Math.max(0, unseen - 1);
        return unseen > 0;
    }

    /** How many more of each stream there is room for. */
    private Map<String, Integer> rooms(Demand demand) {
        Map<String, Integer> rooms = new LinkedHashMap<>();
        for (String stream : worker.streams()) {
            boolean trial = stream.equals(demand.only());
            int room = trial ? 1 : demand.rows() - demand.load().getOrDefault(stream, 0);
            if (room > 0
                    && (trial || demand.only() == null)
                    && !demand.without().contains(stream)) {
                rooms.put(stream, room);
            }
        }
        return rooms;
    }

    /** What is still under way here is not sent a second time from here, though its lease may have run out. */
    private List<Long> maybeDue() {
        long now = ticker.getAsLong();
        return taken.values().stream()
                .filter(each -> CompetingClaim.of(each).mayBeDue(now))
                .map(Delivery::id)
                .toList();
    }

    private static boolean isFull(List<ClaimStatements.Leased> leased, ClaimStatements.Query query) {
        Map<String, Integer> rows = new HashMap<>();
        long bytes = 0;
        for (ClaimStatements.Leased each : leased) {
            rows.merge(each.delivery().event().stream(), 1, Integer::sum);
            bytes += each.delivery().event().payloadSize();
        }
        return leased.size() >= query.rows()
                || bytes >= query.bytes()
                || rows.entrySet().stream()
                        .anyMatch(entry ->
                                entry.getValue() >= query.rooms().getOrDefault(entry.getKey(), Integer.MAX_VALUE));
    }

    /** The next claim begins where this one ended, so that each shard has its turn. */
    private void goOnFrom(List<ClaimStatements.Leased> leased) {
        int first = firstShard;
        int furthest = leased.stream()
                .mapToInt(each -> (each.shard() - first) & (Ownership.SHARDS - 1))
                .max()
                .orElse(0);
        firstShard = (first + furthest) & (Ownership.SHARDS - 1);
    }

    /** What again and again was left behind, or has expired, is judged instead. */
    private Taken handOut(ClaimStatements.Found found, boolean more, boolean lookAgain) {
        List<Delivery> deliveries = new ArrayList<>();
        List<Verdict> dead = new ArrayList<>();
        for (ClaimStatements.Leased each : found.leased()) {
            if (each.runOut() >= LeftBehind.TOO_OFTEN) {
                dead.add(new Verdict(each.delivery(), new Outcome.Dead(LEASES_RAN_OUT, message(each.runOut()))));
            } else if (each.delivery().hasExpired()) {
                dead.add(new Verdict(each.delivery(), new Outcome.Expired()));
            } else {
                deliveries.add(each.delivery());
            }
        }
        List<Verdict> judged = judge(dead, !deliveries.isEmpty());
        // Suspects that are under way stand in the way of others.
        boolean complete = suspects.isEmpty() && unseen == 0;
        Optional<Duration> next = lookAgain ? earlier(found.nextDue()) : found.nextDue();
        return new Taken(deliveries, more, next, judged, complete);
    }

    private static Optional<Duration> earlier(Optional<Duration> due) {
        return due.filter(other -> other.compareTo(LOOK_AGAIN) < 0).or(() -> Optional.of(LOOK_AGAIN));
    }

    private static String message(int runOut) {
        return runOut + " times whoever was sending this event let its lease run out, so it is not sent any more."
                + " Find out what it does to them (memory, native code, a pause), then requeue or discard it.";
    }

    /** What has been claimed beside them must not be forgotten if this fails; they come back and are judged then. */
    private List<Verdict> judge(List<Verdict> dead, boolean others) {
        if (dead.isEmpty()) {
            return dead;
        }
        try {
            return verdict(dead);
        } catch (FeedException e) {
            release(dead.stream().map(Verdict::delivery).toList());
            if (!others) {
                throw e;
            }
            log.debug("What is dead could not be written yet", e);
            return List.of();
        }
    }

    @Override
    public void settle(List<Delivery> published) {
        statements.settle(published);
        published.forEach(this::gave);
    }

    @Override
    public void settled(List<Delivery> gone) {
        gone.forEach(this::gave);
    }

    @Override
    public List<Verdict> verdict(List<Verdict> verdicts) {
        Set<Long> written = statements.verdict(member.id(), verdicts);
        verdicts.forEach(verdict -> gave(verdict.delivery()));
        return verdicts.stream()
                .filter(verdict -> written.contains(verdict.delivery().id()))
                .toList();
    }

    @Override
    public void release(List<Delivery> deliveries) {
        for (Delivery each : deliveries) {
            if (gave(each)) {
                returning.add(each);
            }
        }
    }

    @Override
    public void writeReleases() {
        if (!returning.isEmpty()) {
            statements.release(member.id(), returning);
            returning.clear();
        }
    }

    @Override
    public int size() {
        return taken.size();
    }

    Collection<Delivery> taken() {
        return taken.values();
    }

    @Override
    public void close() {
        release(List.copyOf(taken.values()));
        try {
            writeReleases();
        } catch (FeedException e) {
            log.debug("Leases could not be given back and run out by themselves", e);
        } finally {
            suspects.clear();
            member.suspects().giveUp(this);
            statements.close();
            worker.closed(this);
        }
    }

    private boolean gave(Delivery delivery) {
        if (suspects.remove(delivery)) {
            giveRightUpIfUnused();
        }
        return taken.remove(delivery.id(), delivery);
    }
}
