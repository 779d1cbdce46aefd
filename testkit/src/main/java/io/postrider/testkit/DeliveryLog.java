// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import io.postrider.OutboxEvent;
import io.postrider.relay.Publisher;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What has been delivered, in the order in which it was, for a {@link Ledger} to check.
 *
 * <p>Fed by the {@link #publisher} of a relay or by a consumer such as {@code KafkaTap}. Kept in memory, or in a file to
 * which several processes append and which still has every recorded delivery after a process was killed. Thread-safe.
 */
public final class DeliveryLog implements AutoCloseable {
    /** Without it a line is what a process was writing when it was killed. */
    private static final String END = "\t.";

    private final List<Entry> entries = new ArrayList<>();
    private final Set<UUID> distinct = new HashSet<>();
    private final @Nullable Path path;
    private final @Nullable FileChannel file;
    private long readTo;

    private DeliveryLog(@Nullable Path path, @Nullable FileChannel file) {
        this.path = path;
        this.file = file;
    }

    /** A log in the memory of this JVM. */
    public static DeliveryLog inMemory() {
        return new DeliveryLog(null, null);
    }

    /** A log in this file, which is created if it is missing and appended to otherwise. */
    public static DeliveryLog inFile(Path path) {
        try {
            return new DeliveryLog(path, FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND));
        } catch (IOException e) {
            throw new UncheckedIOException("The delivery log " + path + " could not be opened", e);
        }
    }

    /**
     * One delivery.
     *
     * @param key the key that the ledger wrote into the payload; {@code ?} if it is not a ledger's payload
     * @param seq the event's number within its key; -1 if it is not a ledger's payload
     */
    public record Entry(UUID eventId, String key, long seq, long payloadHash, long headersHash, Instant at) {
        private String line() {
            return String.join(
                            "\t",
                            eventId.toString(),
                            Long.toString(seq),
                            Long.toHexString(payloadHash),
                            Long.toHexString(headersHash),
                            at.toString(),
                            key)
                    + END;
        }

        private static Entry parse(String line) {
            String[] field = line.substring(0, line.length() - END.length()).split("\t", 6);
            return new Entry(
                    UUID.fromString(field[0]),
                    field[5],
                    Long.parseLong(field[1]),
                    Long.parseUnsignedLong(field[2], 16),
                    Long.parseUnsignedLong(field[3], 16),
                    Instant.parse(field[4]));
        }
    }

    /** Records a delivery of this event, now. */
    public void record(OutboxEvent event) {
        record(event.id(), event.payload(), event.headers());
    }

    /** Records a delivery of the event with this id, now; for {@code null} it was a tombstone. */
    public void record(UUID eventId, byte @Nullable [] payload, Map<String, String> headers) {
        LedgerPayload content = LedgerPayload.parse(payload);
        record(new Entry(
                eventId,
                content.key(),
                content.seq(),
                LedgerPayload.hash(payload),
                LedgerPayload.hash(headers),
                Instant.now()));
    }

    /** Records this delivery. */
    public synchronized void record(Entry entry) {
        if (file == null) {
            add(entry);
            return;
        }
        try {
            // One write to a file opened for appending is never torn apart by another process's. One that a kill cuts
            // off in the middle ends where the next begins.
            ByteBuffer line = ByteBuffer.wrap(("\n" + entry.line() + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                file.write(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("A delivery could not be written to " + path, e);
        }
    }

    /** A destination that records every event and takes it at once. */
    public Publisher publisher() {
        return event -> {
            record(event);
            return CompletableFuture.completedStage(event);
        };
    }

    /** All deliveries so far, those of other processes included, in order. */
    public synchronized List<Entry> entries() {
        catchUp();
        return List.copyOf(entries);
    }

    /** How many deliveries there have been. */
    public synchronized int size() {
        catchUp();
        return entries.size();
    }

    /** How many different events have been delivered. */
    public synchronized int distinct() {
        catchUp();
        return distinct.size();
    }

    /** Closes the file if there is one; nothing can be recorded any more. */
    @Override
    public synchronized void close() {
        if (file == null) {
            return;
        }
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException("The delivery log " + path + " could not be closed", e);
        }
    }

    private void add(Entry entry) {
        entries.add(entry);
        distinct.add(entry.eventId);
    }

    private void catchUp() {
        if (path == null) {
            return;
        }
        try (RandomAccessFile reader = new RandomAccessFile(path.toFile(), "r")) {
            byte[] fresh = new byte[Math.toIntExact(reader.length() - readTo)];
            reader.seek(readTo);
            reader.readFully(fresh);
            int start = 0;
            for (int i = 0; i < fresh.length; i++) {
                // What follows the last line feed is a line that is just being written.
                if (fresh[i] == '\n') {
                    String line = new String(fresh, start, i - start, StandardCharsets.UTF_8);
                    if (line.endsWith(END)) {
                        add(Entry.parse(line));
                    }
                    start = i + 1;
                }
            }
            readTo += start;
        } catch (IOException e) {
            throw new UncheckedIOException("The delivery log " + path + " could not be read", e);
        }
    }
}
