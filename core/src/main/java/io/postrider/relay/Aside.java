// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What is being settled while its loop goes on: at most as many rows as the loop may have taken, and half of the bytes. For the
 * loop's thread.
 */
final class Aside {
    private final Optional<Settler> settler;
    private final Window window;
    private final Runnable wake;
    /** Written by the settler's thread. */
    private final Queue<Ended> ended = new ConcurrentLinkedQueue<>();

    private int rows;
    private long bytes;

    /** @param isSettled if not, they may be or not */
    record Ended(List<Told.Published> batch, boolean isSettled) {}

    /** @param wake has the loop call {@link #hear} soon; called from any thread */
    Aside(Optional<Settler> settler, Window window, Runnable wake) {
        this.settler = settler;
        this.window = window;
        this.wake = wake;
    }

    /** Returns whether these will be settled; if not, the loop has to do it itself. */
    boolean take(List<Told.Published> published) {
        long weight = weight(published);
        if (rows + published.size() > window.rows() || bytes + weight > window.bytes() / 2) {
            return false;
        }
        List<Told.Published> batch = List.copyOf(published);
        List<Delivery> deliveries = batch.stream().map(Told.Published::delivery).toList();
        boolean taken = settler.filter(it -> it.offer(deliveries, isSettled -> {
                    ended.add(new Ended(batch, isSettled));
                    wake.run();
                }))
                .isPresent();
        if (taken) {
            rows += batch.size();
            bytes += weight;
        }
        return taken;
    }

    /** What has come to its end and was not heard of yet, if anything. */
    Optional<Ended> hear() {
        Ended heard = ended.poll();
        if (heard != null) {
            rows -= heard.batch().size();
            bytes -= weight(heard.batch());
        }
        return Optional.ofNullable(heard);
    }

    int rows() {
        return rows;
    }

    private static long weight(List<Told.Published> published) {
        return published.stream().mapToLong(done -> done.delivery().weight()).sum();
    }
}
