// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

/**
 * Does what an event asks for. May be called again for the same event, so its effects must bear repetition, or be guarded by
 * an inbox, or be made in the transaction that settles the event. Must be thread-safe.
 */
@FunctionalInterface
public interface Handler<T> {
    /**
     * Handles one message.
     *
     * @return what became of it
     * @throws Exception this attempt failed: counted and retried, unless it is a {@link io.postrider.relay.PublishException}
     *     that says otherwise
     */
    Handled handle(T message, Context context) throws Exception;
}
