// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.jdbc.ShardStore.Peer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds relays that have stopped renewing their place, and removes them. Who is removed must have been seen twice with the
 * same beat, and its lease must have run out, or it has not moved for that long on this process's own clock. For one thread.
 */
final class DeathWatch {
    private static final Logger log = LoggerFactory.getLogger(DeathWatch.class);

    private final String name;
    private final Removal removal;
    private final LongSupplier ticker;
    private final Map<Long, Sighting> sightings = new HashMap<>();

    /** How long, on this process's own clock, a peer has not moved. */
    private record Sighting(long beat, long since) {}

    /** Removes the place of a relay that is as it was seen; returns whether it was. */
    @FunctionalInterface
    interface Removal {
        boolean of(Peer peer, boolean unmoved);
    }

    /** @param name of the relay that watches */
    DeathWatch(String name, Removal removal, LongSupplier ticker) {
        this.name = name;
        this.removal = removal;
        this.ticker = ticker;
    }

    /** What was seen before an outage says nothing about who lived through it. */
    void forget() {
        sightings.clear();
    }

    /** Returns whether it removed any of them. */
    boolean declareDead(long me, List<Peer> peers) {
        long now = ticker.getAsLong();
        boolean someDied = false;
        for (Peer peer : peers) {
            if (peer.id() == me) {
                continue;
            }
            Sighting last = sightings.get(peer.id());
            if (last == null || last.beat() != peer.beat()) {
                sightings.put(peer.id(), new Sighting(peer.beat(), now));
                continue;
            }
            boolean unmoved = now - last.since() > peer.ttl().toNanos();
            if ((peer.past() || unmoved) && removal.of(peer, unmoved)) {
                someDied = true;
                log.warn("Relay {} declared relay number {} dead: its lease ran out", name, peer.id());
            }
        }
        sightings.keySet().retainAll(peers.stream().map(Peer::id).toList());
        return someDied;
    }
}
