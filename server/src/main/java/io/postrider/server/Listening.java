// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;

/**
 * Where a server listens, and who may ask it.
 *
 * @param hosts names with ports under which browsers reach it besides its own address
 */
record Listening(String address, int port, Set<String> hosts, Optional<Authenticator> authenticator, Role localRole) {

    /** Makes what answers, when it is known who may ask. */
    interface Answering {
        RequestHandler of(DashboardHandler.Access access);
    }

    /** @throws IllegalStateException if others could reach it and nobody asks them who they are */
    DashboardServer start(Answering answering) {
        InetAddress bound = bound();
        if (!bound.isLoopbackAddress() && authenticator.isEmpty()) {
            throw new IllegalStateException("The dashboard will not listen on " + address
                    + " without an authenticator: everybody who reaches this machine could read events and requeue"
                    + " them. Call authenticator(...), or leave the address 127.0.0.1.");
        }
        return DashboardServer.start(bound, port, number -> answering.of(access(known(bound, number))));
    }

    DashboardHandler.Access access(Set<String> known) {
        return new DashboardHandler.Access(
                new Doorkeeper(known),
                authenticator,
                new User("local", localRole),
                new Attempts(System::nanoTime),
                new Semaphore(OverviewApi.MOST_WATCHERS));
    }

    private InetAddress bound() {
        try {
            return InetAddress.getByName(address);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("'" + address + "' is no address of this machine.", e);
        }
    }

    /** Behind an authenticator another name does no harm; then only names that were given restrict. */
    private Set<String> known(InetAddress bound, int number) {
        Set<String> known = new LinkedHashSet<>(hosts);
        if (bound.isLoopbackAddress()) {
            known.add("localhost:" + number);
            known.add("127.0.0.1:" + number);
            known.add("[::1]:" + number);
        } else if (!known.isEmpty()) {
            known.add(bound.getHostAddress() + ":" + number);
        }
        return known;
    }
}
