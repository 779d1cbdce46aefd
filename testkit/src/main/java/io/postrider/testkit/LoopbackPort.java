// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A TCP port of the loopback address that stays reserved over restarts of the server that listens on it.
 *
 * <p>The reservation is a UDP socket on the same number: the kernel lets only one process have it, and takes it back
 * when that process dies. The numbers lie below those that systems hand out for outgoing connections, so that none of
 * these takes the port while its server is down.
 */
final class LoopbackPort implements AutoCloseable {
    private static final int FIRST = 20_000;
    private static final int END = 32_000;
    private static final int TRIES = 1_000;

    private final int number;
    private final DatagramSocket reservation;

    private LoopbackPort(int number, DatagramSocket reservation) {
        this.number = number;
        this.reservation = reservation;
    }

    static LoopbackPort reserve() {
        for (int i = 0; i < TRIES; i++) {
            int candidate = ThreadLocalRandom.current().nextInt(FIRST, END);
            DatagramSocket reservation = tryReserve(candidate);
            if (reservation != null) {
                return new LoopbackPort(candidate, reservation);
            }
        }
        throw new IllegalStateException("No free port between " + FIRST + " and " + END + " after " + TRIES
                + " tries. End servers that earlier tests left behind.");
    }

    int number() {
        return number;
    }

    static InetAddress address() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("Four bytes are an address", e);
        }
    }

    private static @Nullable DatagramSocket tryReserve(int port) {
        InetSocketAddress address = new InetSocketAddress(address(), port);
        DatagramSocket reservation;
        try {
            reservation = new DatagramSocket(address);
        } catch (IOException taken) {
            return null;
        }
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(address);
            return reservation;
        } catch (IOException taken) {
            reservation.close();
            return null;
        }
    }

    @Override
    public void close() {
        reservation.close();
    }
}
