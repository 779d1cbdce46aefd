// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The thread of a proxy. All but {@link #command}, {@link #connections} and {@link #close} is for that thread only. */
final class ProxyLoop implements AutoCloseable {
    private static final long TIMER_MILLIS = 2;
    private static final int BACKLOG = 1_024;
    private static final int COMMAND_SECONDS = 10;

    private final InetSocketAddress address;
    private final Selector selector;
    private final Thread thread = new Thread(this::run, "postrider-tcp-proxy");
    private final Queue<Command> commands = new ConcurrentLinkedQueue<>();
    private final Set<ProxyLink> links = new LinkedHashSet<>();
    private ProxyMode mode = ProxyMode.of(ProxyMode.Kind.PASS);
    private @Nullable InetSocketAddress target;
    private @Nullable ServerSocketChannel listener;
    private volatile int connections;
    private volatile boolean closed;

    /** Something to be done by the loop's thread. */
    interface Action {
        void run() throws IOException;
    }

    private record Command(Action action, CompletableFuture<@Nullable Void> done) {}

    private ProxyLoop(InetSocketAddress address, Selector selector) {
        this.address = address;
        this.selector = selector;
    }

    static ProxyLoop start(InetSocketAddress address) throws IOException {
        ProxyLoop loop = new ProxyLoop(address, Selector.open());
        loop.listen();
        loop.thread.setDaemon(true);
        loop.thread.start();
        return loop;
    }

    int connections() {
        return connections;
    }

    /** Has the thread do this and waits until it is done. */
    void command(Action action) {
        if (closed) {
            throw new IllegalStateException("The proxy on port " + address.getPort() + " is closed");
        }
        CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
        commands.add(new Command(action, done));
        selector.wakeup();
        // The limit is for a proxy that is closed at this very moment.
        done.orTimeout(COMMAND_SECONDS, TimeUnit.SECONDS).join();
    }

    void target(InetSocketAddress target) {
        this.target = target;
    }

    void mode(ProxyMode next) throws IOException {
        for (ProxyLink link : List.copyOf(links)) {
            if (link.isDamaged()) {
                drop(link);
            } else if (next.is(ProxyMode.Kind.HALF_OPEN)) {
                link.abandonServer();
            }
        }
        mode = next;
        if (next.is(ProxyMode.Kind.REFUSE)) {
            if (listener != null) {
                listener.close();
                listener = null;
            }
        } else if (listener == null) {
            listen();
        }
    }

    void abandonAll() throws IOException {
        for (ProxyLink link : List.copyOf(links)) {
            link.abandonServer();
        }
    }

    void resetAll() {
        List.copyOf(links).forEach(this::drop);
    }

    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listen() throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        channel.bind(address, BACKLOG);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_ACCEPT);
        listener = channel;
    }

    private void run() {
        try {
            while (!closed) {
                turn();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy on port " + address.getPort() + " broke down", e);
        } finally {
            closed = true;
            end();
        }
    }

    private void turn() throws IOException {
        long now = System.nanoTime();
        boolean timed = false;
        for (ProxyLink link : links) {
            link.arm(selector, mode, now);
            timed |= !mode.is(ProxyMode.Kind.BLACK_HOLE) && link.isTimed(mode, now);
        }
        // 0 waits for a socket or a command.
        selector.select(timed ? TIMER_MILLIS : 0);
        obey();
        now = System.nanoTime();
        for (SelectionKey key : selector.selectedKeys()) {
            if (key.isValid()) {
                serve(key, now);
            }
        }
        selector.selectedKeys().clear();
        if (!mode.is(ProxyMode.Kind.BLACK_HOLE)) {
            flush(now);
        }
        connections = links.size();
    }

    private void obey() {
        List<Command> obeyed = new ArrayList<>();
        for (Command command = commands.poll(); command != null; command = commands.poll()) {
            try {
                command.action.run();
                // A registered channel is closed for real by the next selection only.
                selector.selectNow();
                connections = links.size();
                obeyed.add(command);
            } catch (IOException | RuntimeException e) {
                command.done.completeExceptionally(e);
            }
        }
        obeyed.forEach(command -> command.done.complete(null));
    }

    private void serve(SelectionKey key, long now) throws IOException {
        if (key.attachment() instanceof ProxyLink link) {
            try {
                link.ready(key, mode, now);
            } catch (IOException broken) {
                drop(link);
            }
        } else if (listener != null && key.isAcceptable()) {
            SocketChannel client = listener.accept();
            if (client != null) {
                accept(new ProxyLink(client));
            }
        }
    }

    private void accept(ProxyLink link) {
        links.add(link);
        try {
            link.register(selector);
            if (mode.is(ProxyMode.Kind.HALF_OPEN)) {
                link.abandonServer();
            } else if (target == null) {
                drop(link);
            } else {
                link.connect(selector, target);
            }
        } catch (IOException e) {
            drop(link);
        }
    }

    private void flush(long now) {
        for (ProxyLink link : List.copyOf(links)) {
            try {
                if (link.flush(now)) {
                    links.remove(link);
                    link.close();
                }
            } catch (IOException broken) {
                drop(link);
            }
        }
    }

    private void drop(ProxyLink link) {
        links.remove(link);
        link.reset();
    }

    private void end() {
        resetAll();
        try {
            if (listener != null) {
                listener.close();
            }
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException("The proxy on port " + address.getPort() + " could not be closed", e);
        } finally {
            connections = 0;
            commands.forEach(command ->
                    command.done.completeExceptionally(new IllegalStateException("The proxy has been closed")));
        }
    }
}
