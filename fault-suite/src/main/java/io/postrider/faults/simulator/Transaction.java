// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import io.postrider.OutboxEvent;
import io.postrider.faults.simulator.Tables.EventRow;
import io.postrider.jdbc.SimulatedAppend;
import io.postrider.relay.Bell.Handed;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What one transaction writes, and where: in a process with a relay, or elsewhere. */
final class Transaction {
    /** What will be inserted. */
    record Draft(String stream, OutboxEvent.Builder event) {}

    final List<Draft> events;
    final Set<String> keys;
    final @Nullable Node node;
    private final List<EventRow> inserted = new ArrayList<>();
    private List<OptionalLong> lessees = List.of();

    Transaction(List<Draft> events, Set<String> keys, @Nullable Node node) {
        this.events = events;
        this.keys = keys;
        this.node = node;
    }

    List<EventRow> inserted() {
        return inserted;
    }

    boolean isDead() {
        return node != null && node.isCrashed();
    }

    long nanosPaused() {
        return node == null || !node.isPaused() ? 0 : node.nanosPaused();
    }

    /** As Appending.insert: before anything is inserted, so that time may pass until it is. */
    void askForLessees() {
        if (node != null) {
            lessees = events.stream()
                    .map(draft -> node.bell().lessee(draft.event.buildStored()))
                    .toList();
        }
    }

    /** As JdbcOutbox.OnConnection.append. */
    void insert(EventRow plain, World world, Ledger ledger) {
        OptionalLong lessee = node == null ? OptionalLong.empty() : lessees.get(inserted.size());
        EventRow row = plain;
        if (lessee.isPresent()) {
            row = new SimulatedAppend(world.mood.eventLease(), ledger).insert(plain, lessee.getAsLong(), world.now());
        }
        if (lessee.isEmpty() && node != null && node.isTheOnlyOne()) {
            world.count(Sometimes.NOT_LEASED_BY_THE_ONLY_RELAY);
        }
        world.note(writer(), "inserts", row.id(), row.place(), row.status(), row.lockedBy());
        inserted.add(row);
    }

    /** As JdbcOutbox.OnConnection does after the commit. */
    void committed() {
        if (node == null) {
            return;
        }
        if (isLeased()) {
            node.bell()
                    .handOver(inserted.stream()
                            .map(row -> new Handed(row.event().id(), row.event().payloadSize()))
                            .toList());
        } else {
            node.bell().ring();
        }
    }

    boolean isLeased() {
        return lessees.stream().anyMatch(OptionalLong::isPresent);
    }

    String writer() {
        return node == null ? "writer" : "in " + node;
    }

    @Override
    public String toString() {
        return inserted.stream().map(EventRow::id).toList() + " " + keys;
    }
}
