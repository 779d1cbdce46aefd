// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {
    private EchoServer echo;
    private TcpProxy proxy;

    @BeforeEach
    void start() throws IOException {
        echo = new EchoServer();
        proxy = TcpProxy.to("127.0.0.1", echo.port());
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        echo.close();
    }

    @Test
    void itForwardsBothWaysAndPassesOnTheEnd() throws IOException {
        byte[] big = "0123456789".repeat(300_000).getBytes(StandardCharsets.UTF_8);
        try (Socket client = connect()) {
            Thread writer = new Thread(() -> {
                try {
                    client.getOutputStream().write(big);
                    client.shutdownOutput();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            writer.start();
            assertThat(client.getInputStream().readAllBytes()).isEqualTo(big);
        }
        Awaitility.await().until(() -> proxy.connections() == 0);
    }

    @Test
    void itDelaysWithoutLimitingHowMuchIsOnItsWay() throws IOException {
        proxy.delay(Duration.ofMillis(200));
        assertTakes(400, 2_000, client -> {
            for (int i = 0; i < 20; i++) {
                client.getOutputStream().write("0123456789".repeat(2_000).getBytes(StandardCharsets.UTF_8));
            }
            assertThat(client.getInputStream().readNBytes(400_000)).hasSize(400_000);
        });
    }

    @Test
    void itThrottles() throws IOException {
        proxy.throttle(100_000);
        assertTakes(450, 3_000, client -> {
            client.getOutputStream().write(new byte[50_000]);
            assertThat(client.getInputStream().readNBytes(50_000)).hasSize(50_000);
        });
    }

    @Test
    void itResetsOpenConnectionsAndTakesNewOnes() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            proxy.reset();

            assertThatThrownBy(() -> client.getInputStream().read())
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
            Awaitility.await().until(() -> echo.open() == 0);
        }
        try (Socket client = connect()) {
            assertThat(ask(client, "b")).isEqualTo("b");
        }
    }

    @Test
    void itRefusesNewConnectionsWhileOpenOnesGoOn() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            proxy.refuse();

            assertThat(ask(client, "b")).isEqualTo("b");
            assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
            proxy.pass();
            try (Socket second = connect()) {
                assertThat(ask(second, "c")).isEqualTo("c");
            }
        }
    }

    @Test
    void aBlackHoleMovesNothingAndLosesNothing() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            proxy.blackHole();

            try (Socket second = connect()) {
                assertNoAnswer(client, "b");
                assertNoAnswer(second, "x");
                assertThat(echo.seen()).isEqualTo("a");
                proxy.pass();
                assertThat(answer(client)).isEqualTo("b");
                assertThat(answer(second)).isEqualTo("x");
            }
        }
    }

    @Test
    void swallowedRepliesHaveReachedTheServerAndTheirConnectionIsResetAfterwards() throws IOException {
        try (Socket client = connect();
                Socket idle = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            assertThat(ask(idle, "i")).isEqualTo("i");
            proxy.swallowReplies();

            assertNoAnswer(client, "b");
            Awaitility.await().until(() -> echo.answered() == 3);
            assertThat(echo.seen()).isEqualTo("aib");
            // What was answered before this command has been swallowed before the next.
            proxy.forwardTo("127.0.0.1", echo.port());
            proxy.pass();
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThat(ask(idle, "j")).isEqualTo("j");
        }
    }

    @Test
    void halfOpenTheServerIsGoneAndTheClientDoesNotKnow() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            proxy.halfOpen();

            Awaitility.await().until(() -> echo.open() == 0);
            assertNoAnswer(client, "b");
            try (Socket second = connect()) {
                assertNoAnswer(second, "c");
                assertThat(echo.seen()).isEqualTo("a");
            }
            proxy.pass();
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void aServerThatIsDownResetsTheClient() throws IOException {
        // Bound and deaf: the port of a server that has ended may be another's by now.
        try (Socket down = new Socket()) {
            down.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            proxy.forwardTo("127.0.0.1", down.getLocalPort());
            assertThatThrownBy(() -> {
                        try (Socket client = connect()) {
                            client.getInputStream().read();
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    @Test
    void afterCloseNothingIsLeft() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client, "a")).isEqualTo("a");
            proxy.close();

            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
            assertThatThrownBy(proxy::pass).hasMessageContaining("is closed");
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress(LoopbackPort.address(), proxy.port()), 5_000);
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String ask(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        return answer(client);
    }

    private static String answer(Socket client) throws IOException {
        return new String(client.getInputStream().readNBytes(1), StandardCharsets.UTF_8);
    }

    private static void assertNoAnswer(Socket client, String text) throws IOException {
        client.setSoTimeout(200);
        assertThatThrownBy(() -> ask(client, text)).isInstanceOf(SocketTimeoutException.class);
        client.setSoTimeout(20_000);
    }

    private interface Exchange {
        void with(Socket client) throws IOException;
    }

    /** Noise only adds to the time, so the shortest of some tries counts. */
    private void assertTakes(long leastMillis, long mostMillis, Exchange exchange) throws IOException {
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < 5 && shortest > mostMillis; i++) {
            try (Socket client = connect()) {
                long start = System.nanoTime();
                exchange.with(client);
                long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                assertThat(took).isGreaterThanOrEqualTo(leastMillis);
                shortest = Math.min(shortest, took);
            }
        }
        assertThat(shortest).isLessThanOrEqualTo(mostMillis);
    }

    /** Answers every byte with itself. */
    private static final class EchoServer {
        private final ServerSocket listener = new ServerSocket(0, 50, LoopbackPort.address());
        private final List<Socket> sockets = new CopyOnWriteArrayList<>();
        private final Queue<String> seen = new ConcurrentLinkedQueue<>();
        private final AtomicInteger answered = new AtomicInteger();

        EchoServer() throws IOException {
            daemon(this::accept);
        }

        int port() {
            return listener.getLocalPort();
        }

        String seen() {
            return String.join("", seen);
        }

        int answered() {
            return answered.get();
        }

        int open() {
            return sockets.size();
        }

        void close() throws IOException {
            listener.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        }

        private void accept() {
            try {
                while (true) {
                    Socket socket = listener.accept();
                    sockets.add(socket);
                    daemon(() -> echo(socket));
                }
            } catch (IOException closed) {
                // The test is over.
            }
        }

        private void echo(Socket socket) {
            byte[] buffer = new byte[65_536];
            try (socket;
                    InputStream input = socket.getInputStream()) {
                for (int n = input.read(buffer); n > 0; n = input.read(buffer)) {
                    seen.add(new String(buffer, 0, Math.min(n, 10), StandardCharsets.UTF_8));
                    socket.getOutputStream().write(buffer, 0, n);
                    answered.incrementAndGet();
                }
            } catch (IOException reset) {
                // As a test wants it.
            } finally {
                sockets.remove(socket);
            }
        }

        private static void daemon(Runnable work) {
            Thread thread = new Thread(work);
            thread.setDaemon(true);
            thread.start();
        }
    }
}
