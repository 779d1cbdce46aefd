// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

/** Answers requests, whichever HTTP server brings them. Used by many threads. */
interface RequestHandler extends AutoCloseable {

    /** Never throws. */
    Answer handle(Request request);

    /** Lets those who watch live go. */
    @Override
    void close();
}
