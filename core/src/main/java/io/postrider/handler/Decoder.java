// SPDX-License-Identifier: Apache-2.0
package io.postrider.handler;

/**
 * Makes an object of a payload, for one logical type; such as {@code json.readerFor(Order.class)::readValue}. Must be
 * thread-safe. What it throws makes the event dead, with the code {@code UNREADABLE}.
 */
@FunctionalInterface
public interface Decoder<T> {
    T decode(byte[] payload) throws Exception;
}
