// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.jdbc.ShardStore.Peer;
import io.postrider.jdbc.ShardStore.Wants;
import io.postrider.relay.Delivery;
import io.postrider.relay.FeedException;
import io.postrider.relay.Membership;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of one feed among the relays, shared by all workers that take from it: one row, one connection, one renewal for
 * all of them. The first worker takes the place, the last gives it up. Thread-safe.
 */
final class CompetingMember {
    private static final Logger log = LoggerFactory.getLogger(CompetingMember.class);
    private static final long FORGOTTEN_WAIT_MILLIS = 100;

    private final MemberStatements statements;
    private final CompetingSettings settings;
    private final Housekeeping housekeeping;
    private final LongSupplier ticker;
    private final Set<CompetingMembership> workers = new LinkedHashSet<>();
    /** Claims share it; whoever looks for what was leased and forgotten has it alone. */
    private final ReadWriteLock claims = new ReentrantReadWriteLock();

    private final RightToSuspects suspects;

    private volatile long id;
    private volatile boolean forgot;
    private String name = "";
    private @Nullable DeathWatch deaths;
    private long renewedAt;

    CompetingMember(
            MemberStatements statements, CompetingSettings settings, Housekeeping housekeeping, LongSupplier ticker) {
        this.statements = statements;
        this.settings = settings;
        this.housekeeping = housekeeping;
        this.ticker = ticker;
        this.suspects = new RightToSuspects(ticker);
    }

    /** In whose name rows are leased. */
    long id() {
        return id;
    }

    CompetingSettings settings() {
        return settings;
    }

    RightToSuspects suspects() {
        return suspects;
    }

    synchronized void enter(CompetingMembership worker) {
        boolean first = workers.isEmpty();
        workers.add(worker);
        try {
            if (first) {
                name = worker.name();
                deaths = new DeathWatch(name, statements::declareDead, ticker);
                statements.declare();
                id = statements.join(name, wants());
            }
            renew();
        } catch (RuntimeException e) {
            workers.remove(worker);
            if (first) {
                statements.close();
            }
            throw e;
        }
    }

    /** Renews the place for all, unless another worker just did, and the leases of this one. */
    synchronized void tick(CompetingMembership worker) {
        if (ticker.getAsLong() - renewedAt >= settings.tickEvery().toNanos() / 5 * 4) {
            renew();
        }
        releaseForgotten();
        extend(worker);
    }

    synchronized void leave(CompetingMembership worker) {
        if (!workers.remove(worker) || !workers.isEmpty()) {
            return;
        }
        try {
            statements.leave(id);
        } catch (FeedException e) {
            // A connection that broke while it was idle shows it only now, and others need not wait for that.
            statements.leave(id);
        } finally {
            id = 0;
            statements.close();
        }
    }

    /**
     * Runs a claim and notes what it brought. If it fails, it may have leased rows of which nobody knows.
     *
     * @param claim returns after its rows are known as taken
     */
    <T> T claiming(Supplier<T> claim) {
        claims.readLock().lock();
        try {
            return claim.get();
        } catch (FeedException e) {
            forgot = true;
            throw e;
        } finally {
            claims.readLock().unlock();
        }
    }

    private void renew() {
        long before = ticker.getAsLong();
        try {
            MemberStatements.Survey survey = statements.tick(id, wants(), report(), streams());
            renewedAt = before;
            if (!survey.renewed()) {
                log.warn("Relay {} was taken for dead; it joins anew and others go on with its events", name);
                id = statements.join(name, wants());
                return;
            }
            if (deaths != null) {
                deaths.declareDead(id, survey.peers());
            }
            if (isFirst(survey.peers())) {
                housekeeping.whenOwner();
            }
            workers.forEach(worker -> worker.due(survey.dueIn()));
        } catch (FeedException e) {
            if (deaths != null) {
                deaths.forget();
            }
            throw e;
        }
    }

    /** Whether it is the one of its kind that does the housekeeping. */
    private boolean isFirst(List<Peer> peers) {
        return wants() == Wants.CLAIMS
                && peers.stream().noneMatch(peer -> peer.id() < id && peer.wants() == Wants.CLAIMS && !peer.past());
    }

    private Wants wants() {
        if (workers.stream().anyMatch(worker -> worker.wanted() && !worker.isOnePass())) {
            return Wants.CLAIMS;
        }
        return workers.stream().anyMatch(CompetingMembership::isOnePass) ? Wants.DRAIN : Wants.REST;
    }

    private Membership.Report report() {
        int inFlight = 0;
        long published = 0;
        Set<String> closed = new HashSet<>();
        for (CompetingMembership worker : workers) {
            inFlight += worker.report().inFlight();
            published += worker.report().published();
            closed.addAll(worker.report().closed());
        }
        return new Membership.Report(inFlight, published, closed);
    }

    private Set<String> streams() {
        Set<String> streams = new HashSet<>();
        workers.forEach(worker -> streams.addAll(worker.streams()));
        return streams;
    }

    /** What takes long stays this process's: whoever sent it now would send it a second time. */
    private void extend(CompetingMembership worker) {
        long before = ticker.getAsLong();
        List<Delivery> ending = worker.ending(before);
        if (ending.isEmpty()) {
            return;
        }
        Set<Long> extended = statements.extend(id, worker.lease(), ending);
        for (Delivery each : ending) {
            CompetingClaim claim = CompetingClaim.of(each);
            if (extended.contains(each.id())) {
                claim.extended(before);
            } else {
                // Or it was answered just now, and then that does no harm.
                claim.lost();
            }
        }
    }

    /** Not while a claim runs, since what that brings is leased before it is known here. */
    private void releaseForgotten() {
        if (!forgot || !lockClaims()) {
            return;
        }
        try {
            List<Long> known = new ArrayList<>();
            workers.forEach(worker -> known.addAll(worker.takenIds()));
            statements.releaseAllBut(id, known);
            forgot = false;
        } finally {
            claims.writeLock().unlock();
        }
    }

    private boolean lockClaims() {
        try {
            return claims.writeLock().tryLock(FORGOTTEN_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
