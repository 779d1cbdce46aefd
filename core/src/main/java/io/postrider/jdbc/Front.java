// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.time.Duration;
import java.util.Collections;
import java.util.Set;

/**
 * An id below which the table has no row and never will, so that a look at all rows may begin there.
 *
 * <p>An id that was seen may have smaller ones behind it whose transactions have not ended. Each of these was writing to the
 * table when it drew its id, and is until it ends. So once all have ended that were writing some time after an id was seen,
 * nothing smaller can appear any more, and the least of what is there then is the front.
 *
 * <p>It holds for one run of one server. It is forgotten now and then all the same, so that rows which somebody put there by
 * hand, with ids of his own, are found. For one thread.
 */
final class Front {
    private static final long ASK_EVERY = Duration.ofSeconds(1).toNanos();
    /** Of one who goes ahead as fast as that is known. */
    private static final long ASK_OFTEN_EVERY = Duration.ofMillis(100).toNanos();

    private static final long FORGET_AFTER = Duration.ofSeconds(30).toNanos();

    private long server;
    private long id;
    private long forgotten;
    private long foundAt;

    /** Nothing smaller can appear any more. */
    private long sure;
    /** To be sure of when all have ended that were writing when they were last asked for. */
    private long next;

    private Set<String> awaited = Set.of();
    private long seen;
    private boolean asked;
    private long askedAt;

    /**
     * @param server the run of the server that says so
     * @param transactions all that have begun to write to the table and not ended
     * @param greatest an id that had been drawn before that
     */
    record Writing(long server, Set<String> transactions, long greatest) {
        /** One that was prepared has another name than before, so that nobody can tell whether it was awaited. */
        private boolean somePrepared() {
            return transactions.stream().anyMatch(each -> each.startsWith("-1/"));
        }
    }

    /** Whether it is time to ask who is writing. */
    boolean asks(long now) {
        return !asked || now - askedAt >= ASK_EVERY;
    }

    /** The same, of one who is about to pass what is sure. */
    boolean asksOften(long now) {
        return !asked || now - askedAt >= ASK_OFTEN_EVERY;
    }

    /** To be asked between two looks, so that what the first has seen was there, and the second sees what has ended. */
    void hear(Writing writing, long now) {
        asked = true;
        askedAt = now;
        if (writing.server() != server) {
            server = writing.server();
            beginAnew();
        }
        if (Collections.disjoint(awaited, writing.transactions()) && !writing.somePrepared()) {
            sure = next;
            next = Math.max(seen, writing.greatest());
            awaited = writing.transactions();
        }
    }

    /** Nobody could be asked. */
    void notTold(long now) {
        asked = true;
        askedAt = now;
    }

    /** Where a look may begin; 0: at the beginning. */
    long id(long now) {
        if (id != 0 && now - foundAt >= FORGET_AFTER) {
            forgotten = id;
            id = 0;
        }
        return id;
    }

    /** An id up to which nothing can appear any more, on that server; 0: none is known. */
    long sure() {
        return sure;
    }

    /** The run of the server for which that holds. */
    long server() {
        return server;
    }

    /**
     * A look that began there, on that server.
     *
     * @param least the smallest id that it found; the greatest there can be if it found none
     * @param greatest the greatest that it brought; 0 if it brought none
     */
    void looked(long least, long greatest, long now) {
        if (id == 0) {
            foundAt = now;
        }
        if (least < forgotten) {
            // Somebody put it there, or has ids handed out again: what was sure is not.
            beginAnew();
        }
        forgotten = 0;
        id = sure == 0 ? 0 : Math.min(least, sure + 1);
        seen = Math.max(seen, greatest);
    }

    private void beginAnew() {
        id = sure = next = seen = 0;
        awaited = Set.of();
    }
}
