// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.handler.Context;
import io.postrider.handler.Decoder;
import io.postrider.handler.Handled;
import io.postrider.handler.Message;
import io.postrider.handler.Route;
import io.postrider.handler.SettlingHandler;
import io.postrider.relay.Delivery;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Handlers whose effects in the outbox's own database happen once: the event is settled in the transaction that makes them,
 * so both are there or neither is.
 *
 * <pre>{@code
 * SameTransaction once = SameTransaction.of(outbox);
 * Handlers.builder()
 *         .on("transfers", "Booked").settle(once.run(Transfer::parse, (transfer, tx) -> accounts.book(tx.connection(), transfer)))
 *         .build();
 * }</pre>
 *
 * <p>The connection is the handler's for as long as it runs; it must neither commit it nor roll it back. What it throws rolls
 * back, and is judged as for other handlers. Thread-safe.
 */
public final class SameTransaction {
    /** So many events make a transaction's price per event small; with more, one that fails costs too many others. */
    private static final int MOST = 500;

    private final Transactions transactions;

    private SameTransaction(Transactions transactions) {
        this.transactions = transactions;
    }

    /** In the database of this outbox; what handlers append is seen at once by the relays that its bell wakes. */
    public static SameTransaction of(JdbcOutbox outbox) {
        return new SameTransaction(
                new Transactions(outbox, "handlers-" + ProcessHandle.current().pid()));
    }

    public static SameTransaction of(DataSource dataSource) {
        return of(JdbcOutbox.of(dataSource));
    }

    /** For people: who settled it, in the history; by default the process id. */
    public SameTransaction name(String name) {
        return new SameTransaction(transactions.name(Objects.requireNonNull(name, "name")));
    }

    /** The transaction that is committed, with the event settled, when the handler is done. */
    public interface Tx extends JdbcOutbox.Tx {
        Context context();
    }

    /** Work that is done when it returns. */
    @FunctionalInterface
    public interface Work<T> {
        void in(T message, Tx tx) throws Exception;
    }

    /** Work that says what became of it; everything but done rolls back. */
    @FunctionalInterface
    public interface Handler<T> {
        Handled handle(T message, Tx tx) throws Exception;
    }

    public <T> SettlingHandler run(Decoder<T> decoder, Work<T> work) {
        Objects.requireNonNull(work, "work");
        return handle(decoder, (message, tx) -> {
            work.in(message, tx);
            return Handled.done();
        });
    }

    public <T> SettlingHandler handle(Decoder<T> decoder, Handler<T> handler) {
        Objects.requireNonNull(decoder, "decoder");
        Objects.requireNonNull(handler, "handler");
        return new Transacted<>(transactions, 1, deliveries -> Route.decoded(deliveries.get(0), decoder), handler);
    }

    /**
     * Several events in one transaction, as many as have come while others were handled. If it fails they are handled one by
     * one, so the work must take any number.
     *
     * @param most 2 to 500
     */
    public <T> SettlingHandler batches(int most, Decoder<T> decoder, Work<List<Message<T>>> work) {
        if (most < 2 || most > MOST) {
            throw new IllegalArgumentException("A batch has 2 to " + MOST + " events, not " + most + ".");
        }
        Objects.requireNonNull(decoder, "decoder");
        Objects.requireNonNull(work, "work");
        return new Transacted<List<Message<T>>>(
                transactions,
                most,
                deliveries -> deliveries.stream()
                        .map(delivery -> new Message<>(Route.decoded(delivery, decoder), delivery.event()))
                        .toList(),
                (messages, tx) -> {
                    work.in(messages, tx);
                    return Handled.done();
                });
    }

    private record Transacted<T>(
            Transactions transactions, int most, Function<List<Delivery>, T> decoding, Handler<T> handler)
            implements SettlingHandler {

        @Override
        public Handled handle(List<Delivery> deliveries, Context context) throws Exception {
            T message = decoding.apply(deliveries);
            return transactions.run(deliveries, context, tx -> handler.handle(message, tx));
        }
    }
}
