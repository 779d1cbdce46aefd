// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** A client's connection and the one to the server that belongs to it. Used by the proxy's thread only. */
final class ProxyLink {
    private final SocketChannel client;
    private final ProxyLane requests = new ProxyLane();
    private final ProxyLane replies = new ProxyLane();
    private @Nullable SocketChannel server;
    private boolean damaged;

    ProxyLink(SocketChannel client) {
        this.client = client;
    }

    void register(Selector selector) throws IOException {
        client.configureBlocking(false);
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        client.register(selector, 0, this);
    }

    void connect(Selector selector, InetSocketAddress target) throws IOException {
        SocketChannel channel = SocketChannel.open();
        server = channel;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.register(selector, 0, this);
        channel.connect(target);
    }

    /** Ends the connection to the server only. */
    void abandonServer() throws IOException {
        damaged = true;
        if (server != null) {
            reset(server);
            server = null;
        }
    }

    /** Whether bytes have been thrown away, so that the client and the server no longer understand each other. */
    boolean isDamaged() {
        return damaged;
    }

    boolean isTimed(ProxyMode mode, long now) {
        return requests.isTimed(mode, now) || replies.isTimed(mode, now);
    }

    /** Says what this link waits for. */
    void arm(Selector selector, ProxyMode mode, long now) {
        boolean still = mode.is(ProxyMode.Kind.BLACK_HOLE);
        SelectionKey clientKey = client.keyFor(selector);
        if (clientKey != null && clientKey.isValid()) {
            clientKey.interestOps(still ? 0 : ops(requests.wantsRead(mode, now), replies.wantsWrite(now)));
        }
        SelectionKey serverKey = server == null ? null : server.keyFor(selector);
        if (server != null && serverKey != null && serverKey.isValid()) {
            serverKey.interestOps(
                    server.isConnectionPending()
                            ? SelectionKey.OP_CONNECT
                            : still ? 0 : ops(replies.wantsRead(mode, now), requests.wantsWrite(now)));
        }
    }

    private static int ops(boolean read, boolean write) {
        return (read ? SelectionKey.OP_READ : 0) | (write ? SelectionKey.OP_WRITE : 0);
    }

    /** Does what one of its sockets is ready for; throws if the link has broken. */
    void ready(SelectionKey key, ProxyMode mode, long now) throws IOException {
        if (key.isConnectable() && server != null) {
            server.finishConnect();
            return;
        }
        if (key.isReadable()) {
            boolean fromClient = key.channel() == client;
            boolean drop = fromClient ? server == null : mode.is(ProxyMode.Kind.SWALLOW_REPLIES);
            ProxyLane lane = fromClient ? requests : replies;
            int count = lane.read(fromClient ? client : (SocketChannel) key.channel(), mode, now, drop);
            damaged |= drop && count > 0;
        }
    }

    /** Writes what is due; throws if the link has broken, returns whether it is over. */
    boolean flush(long now) throws IOException {
        if (server == null) {
            return requests.hasEnded();
        }
        if (server.isConnected()) {
            requests.write(server, now);
        }
        replies.write(client, now);
        return requests.isFinished() && replies.isFinished();
    }

    void reset() {
        reset(client);
        if (server != null) {
            reset(server);
        }
    }

    void close() throws IOException {
        client.close();
        if (server != null) {
            server.close();
        }
    }

    private static void reset(SocketChannel channel) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            // Closed by the other side already.
        }
        try {
            channel.close();
        } catch (IOException e) {
            // As above.
        }
    }
}
