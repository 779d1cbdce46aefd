// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.relay.Delivery;
import io.postrider.relay.Settler;
import io.postrider.relay.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the next part of a backlog while its loop sends the last one, by another thread. Still one statement at a time: whatever
 * else is asked for waits for its end.
 *
 * <p>What was read ahead is nobody's until it is asked for, and then only handed out if a read at that moment could have brought
 * it: if the same is asked for, and nothing that was left out of it for being under way has been given back or judged since. What
 * has been settled since was delivered. Otherwise it is forgotten, which costs a read.
 */
final class ReadAhead implements EventStore {
    private static final Logger log = LoggerFactory.getLogger(ReadAhead.class);
    private static final long LASTS = Duration.ofSeconds(1).toNanos();

    private final EventStore store;
    private final Executor executor;
    private final LongSupplier ticker;
    private @Nullable Ahead ahead;

    /** A read that was begun. */
    private record Ahead(Query query, long since, CompletableFuture<Found> found) {
        boolean isFor(Query other) {
            return other.orPart()
                    && query.rows() == other.rows()
                    && query.bytes() == other.bytes()
                    && query.shards().equals(other.shards())
                    && query.without().equals(other.without())
                    && Objects.equals(query.only(), other.only());
        }
    }

    /** @param executor runs one at a time */
    ReadAhead(EventStore store, Executor executor, LongSupplier ticker) {
        this.store = store;
        this.executor = executor;
        this.ticker = ticker;
    }

    @Override
    public Found read(Query query) {
        Found found = readAhead(query).orElseGet(() -> store.read(query));
        if (query.orPart() && found.part() && !found.deliveries().isEmpty()) {
            List<Long> inFlight = new ArrayList<>(query.inFlight());
            found.deliveries().forEach(each -> inFlight.add(each.id()));
            begin(query.besides(inFlight));
        }
        return found;
    }

    private void begin(Query next) {
        try {
            ahead = new Ahead(
                    next, ticker.getAsLong(), CompletableFuture.supplyAsync(() -> store.read(next), executor));
        } catch (RuntimeException | OutOfMemoryError e) {
            // Such as no more threads: what was just found must be handed out all the same.
            log.debug("Nothing is read ahead", e);
        }
    }

    /** Empty: nothing that could be handed out now. */
    private Optional<Found> readAhead(Query query) {
        Ahead last = ahead;
        if (last == null) {
            return Optional.empty();
        }
        Optional<Found> found = end().filter(it -> last.isFor(query) && ticker.getAsLong() - last.since() < LASTS)
                // What another form of the read found, or did not, has to be true now.
                .filter(it -> it.part() && !it.deliveries().isEmpty());
        if (found.isEmpty()) {
            store.released();
        }
        return found;
    }

    /** Waits for what is being read, and forgets it. Empty: nothing, or it failed, which another read will find out too. */
    private Optional<Found> end() {
        Ahead last = ahead;
        ahead = null;
        try {
            return last == null ? Optional.empty() : Optional.of(last.found().join());
        } catch (CompletionException e) {
            // A read that is not ahead will tell.
            log.debug("Nothing could be read ahead", e);
            return Optional.empty();
        }
    }

    @Override
    public void released() {
        end();
        store.released();
    }

    @Override
    public void settle(List<Delivery> published) {
        await();
        Ahead last = ahead;
        if (last != null) {
            Set<Long> inFlight = new HashSet<>(last.query().inFlight());
            if (!published.stream().allMatch(each -> inFlight.contains(each.id()))) {
                // It had been given up before, and so was read once more.
                released();
            }
        }
        store.settle(published);
    }

    private void await() {
        if (ahead != null) {
            ahead.found().handle((found, failure) -> true).join();
        }
    }

    @Override
    public Optional<Settler> settler() {
        return store.settler();
    }

    @Override
    public Judged verdict(List<Verdict> verdicts) {
        end();
        return store.verdict(verdicts);
    }

    @Override
    public void register(Set<String> streams) {
        await();
        store.register(streams);
    }

    @Override
    public Set<Long> mark(List<Delivery> suspects) {
        released();
        return store.mark(suspects);
    }

    @Override
    public void calm(Map<Integer, Long> shards) {
        released();
        store.calm(shards);
    }

    @Override
    public void close() {
        await();
        store.close();
    }
}
