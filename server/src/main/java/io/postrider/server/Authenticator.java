// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.util.Optional;

/**
 * Finds out who asks. {@link TokenAuthenticator} and {@link BasicAuthenticator} are here; an application that knows its
 * users already brings its own.
 */
public interface Authenticator {

    /** Who sent it; empty if nobody who is known. Called for every request to the API, by many threads. */
    Optional<User> authenticate(Request request);

    /** How one signs in, for the dashboard's form and the header {@code WWW-Authenticate}: Bearer, Basic, or another. */
    String scheme();
}
