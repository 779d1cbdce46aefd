// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * A TCP proxy on a loopback port that can be told to misbehave, to stand between a client and a real server.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.to("127.0.0.1", postgres.port())) {
 *     ... connect to proxy.port() ...
 *     proxy.blackHole();
 *     ...
 *     proxy.pass();
 * }
 * }</pre>
 *
 * <p>Each of {@link #pass}, {@link #delay}, {@link #throttle}, {@link #refuse}, {@link #blackHole}, {@link
 * #swallowReplies} and {@link #halfOpen} replaces what was told before, for open and for new connections, and has taken
 * effect when it returns. A connection of which bytes were thrown away is reset when the next of them is called, as
 * nothing sensible could follow on it. All is done by one thread, whatever the number of connections. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {
    private final LoopbackPort port;
    private final ProxyLoop loop;

    private TcpProxy(LoopbackPort port, ProxyLoop loop) {
        this.port = port;
        this.loop = loop;
    }

    /** A proxy that forwards to this server. */
    public static TcpProxy to(String host, int port) {
        TcpProxy proxy = open();
        proxy.forwardTo(host, port);
        return proxy;
    }

    /** A proxy that does not know its server yet and resets connections until {@link #forwardTo} is called. */
    public static TcpProxy open() {
        LoopbackPort port = LoopbackPort.reserve();
        try {
            return new TcpProxy(port, ProxyLoop.start(new InetSocketAddress(LoopbackPort.address(), port.number())));
        } catch (IOException e) {
            port.close();
            throw new UncheckedIOException("The proxy could not listen on port " + port.number(), e);
        }
    }

    /** Sends new connections to this server; open ones stay where they are. */
    public void forwardTo(String host, int port) {
        loop.command(() -> loop.target(new InetSocketAddress(InetAddress.getAllByName(host)[0], port)));
    }

    /** The address on which it listens. */
    public String host() {
        return "127.0.0.1";
    }

    /** The port on which it listens. */
    public int port() {
        return port.number();
    }

    /** How many client connections are open through it. */
    public int connections() {
        return loop.connections();
    }

    /** Forwards everything at once: the behaviour it starts with. */
    public void pass() {
        tell(ProxyMode.of(ProxyMode.Kind.PASS));
    }

    /** Forwards everything this much later, in both directions, without limiting how much is on its way. */
    public void delay(Duration delay) {
        tell(new ProxyMode(ProxyMode.Kind.PASS, delay.toNanos(), 0));
    }

    /** Forwards at most this many bytes per second on each connection in each direction. */
    public void throttle(long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException(
                    "Cannot forward " + bytesPerSecond + " bytes per second; see blackHole()");
        }
        tell(new ProxyMode(ProxyMode.Kind.PASS, 0, bytesPerSecond));
    }

    /** Refuses new connections as if nothing listened here; open ones go on. */
    public void refuse() {
        tell(ProxyMode.of(ProxyMode.Kind.REFUSE));
    }

    /** Accepts connections and moves nothing in either direction; what waits is forwarded when this ends. */
    public void blackHole() {
        tell(ProxyMode.of(ProxyMode.Kind.BLACK_HOLE));
    }

    /** Forwards what clients send and throws away what the server answers. */
    public void swallowReplies() {
        tell(ProxyMode.of(ProxyMode.Kind.SWALLOW_REPLIES));
    }

    /** Ends all connections to the server and tells no client: they stay open, take everything and answer nothing. */
    public void halfOpen() {
        tell(ProxyMode.of(ProxyMode.Kind.HALF_OPEN));
    }

    /** Does that to the connections that are open now; new ones are treated as told before. */
    public void halfOpenPresent() {
        loop.command(loop::abandonAll);
    }

    /** Resets all open connections on both sides, and goes on as told before. */
    public void reset() {
        loop.command(loop::resetAll);
    }

    /** Resets all connections and listens no more; does nothing the second time. */
    @Override
    public void close() {
        loop.close();
        port.close();
    }

    private void tell(ProxyMode mode) {
        loop.command(() -> loop.mode(mode));
    }
}
