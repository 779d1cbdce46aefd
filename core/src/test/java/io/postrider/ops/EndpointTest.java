// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A webhook leads to where it may, and nowhere else. */
class EndpointTest {
    private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private Receiver receiver;

    @BeforeEach
    void start() throws IOException {
        receiver = Receiver.start();
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 307, 308})
    void aRedirectIsNotFollowed(int status) {
        receiver.answer(status);
        assertThatThrownBy(() -> receiver.endpoint("/first").post(BODY, Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("answered " + status + ": redirects are not followed. Give the final URL.");
        assertThat(receiver.posted).hasSize(1);
    }

    @Test
    void anAddressOfThisMachineIsRefused() {
        Endpoint endpoint =
                Endpoint.of("http://127.0.0.1:" + receiver.port() + "/s3cret").allowHttp();
        assertThatThrownBy(() -> endpoint.post(BODY, Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessage("The address of http://127.0.0.1:" + receiver.port()
                        + "/… is not a public one, so nothing was sent. If it shall be, allow private addresses.");
        assertThat(receiver.posted).isEmpty();
    }

    @Test
    void aNameIsResolvedOnceAndWhatWasCheckedIsConnectedTo() throws IOException {
        AtomicInteger asked = new AtomicInteger();
        Endpoint endpoint = Endpoint.of("http://alerts.test:" + receiver.port() + "/")
                .allowHttp()
                .allowPrivateAddresses()
                .names(host -> {
                    asked.incrementAndGet();
                    return new InetAddress[] {LOOPBACK};
                });
        endpoint.post(BODY, Map.of());
        assertThat(asked).hasValue(1);
        assertThat(receiver.posted.get(0).headers().getFirst("Host")).isEqualTo("alerts.test:" + receiver.port());
    }

    @Test
    void ofSeveralAddressesThePrivateOnesAreNotTried() {
        InetAddress documentation = address("203.0.113.1");
        Endpoint endpoint = Endpoint.of("http://alerts.test:" + receiver.port() + "/")
                .allowHttp()
                .names(host -> new InetAddress[] {LOOPBACK, documentation});
        assertThatThrownBy(() -> endpoint.post(BODY, Map.of())).hasMessageContaining("is not a public one");
        assertThat(receiver.posted).isEmpty();
    }

    @Test
    void whatIsNotAllowedIsRefusedAtTheStart() {
        assertThatThrownBy(() -> SlackChannel.of(Endpoint.of("http://hooks.slack.com/s3cret")))
                .hasMessage("The webhook at http://hooks.slack.com/… is not https. Use https, or allow http.");
        assertThatThrownBy(() -> SlackChannel.of(
                        Endpoint.of("https://evil.example/s3cret").onlyHosts("hooks.slack.com", "Alerts.Example")))
                .hasMessage("The webhook at https://evil.example/… is not at one of the hosts that are allowed:"
                        + " [alerts.example, hooks.slack.com].");
        assertThatCode(() -> SlackChannel.of(
                        Endpoint.of("https://HOOKS.slack.com/s3cret").onlyHosts("hooks.slack.com")))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "hooks.slack.com/s3cret", "ftp://a/s3cret", "https:///s3cret", "https://u:s3cret@a/", "h t"})
    void whatIsNoUrlOfAWebServerIsRefusedWithoutBeingShown(String url) {
        assertThatThrownBy(() -> Endpoint.of(url))
                .hasMessageStartingWith("The URL of a webhook is not of the form https://host/path")
                .message()
                .doesNotContain("s3cret");
    }

    @Test
    void aReceiverThatNeverAnswersIsGivenUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, LOOPBACK)) {
            Endpoint endpoint = at(silent.getLocalPort()).timeout(Duration.ofMillis(400));
            assertThatThrownBy(() -> endpoint.post(BODY, Map.of())).hasMessageEndingWith("no answer within 200 ms");
        }
    }

    @Test
    void aReceiverThatSendsAByteNowAndThenIsGivenUpToo() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, LOOPBACK)) {
            Thread drip = new Thread(() -> drip(server));
            drip.start();
            Endpoint endpoint = at(server.getLocalPort()).timeout(Duration.ofMillis(600));
            assertThatThrownBy(() -> endpoint.post(BODY, Map.of())).hasMessageEndingWith("no answer within 300 ms");
            drip.join();
        }
    }

    /** Sends until the other side has gone. */
    private static void drip(ServerSocket server) {
        try (Socket socket = server.accept()) {
            while (true) {
                socket.getOutputStream().write('H');
                socket.setSoTimeout(20);
                try {
                    InputStream in = socket.getInputStream();
                    while (in.read() >= 0) {}
                    return;
                } catch (SocketTimeoutException e) {
                    // It is still there: another byte.
                }
            }
        } catch (IOException e) {
            // The other side has gone.
        }
    }

    @Test
    void whatDoesNotSpeakHttpIsNoSuccess() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, LOOPBACK)) {
            Thread answer = new Thread(() -> {
                try (Socket socket = server.accept()) {
                    int c;
                    do {
                        c = socket.getInputStream().read();
                    } while (c >= 0 && c != '}');
                    socket.getOutputStream().write("x".repeat(100_000).getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    // It is not read to its end.
                }
            });
            answer.start();
            assertThatThrownBy(() -> at(server.getLocalPort()).post(BODY, Map.of()))
                    .hasMessageEndingWith("the answer is not HTTP/1.1");
            answer.join();
        }
    }

    @Test
    void overTlsTheCertificateMustBeOfTheHostsName(@TempDir Path directory) throws Exception {
        SSLContext tls = tls(directory, "alerts.test");
        HttpsServer server = HttpsServer.create(new InetSocketAddress(LOOPBACK, 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        try (Receiver secure = new Receiver(server)) {
            secured("alerts.test", secure, tls).post(BODY, Map.of());
            assertThat(secure.posted).hasSize(1);
            assertThatThrownBy(() -> secured("other.test", secure, tls).post(BODY, Map.of()))
                    .hasMessageContaining("No subject alternative DNS name matching other.test found");
            assertThatThrownBy(() -> secured("alerts.test", secure, SSLContext.getDefault())
                            .post(BODY, Map.of()))
                    .isInstanceOf(IOException.class);
            assertThat(secure.posted).hasSize(1);
        }
    }

    private static Endpoint secured(String host, Receiver receiver, SSLContext tls) {
        return Endpoint.of("https://" + host + ":" + receiver.port() + "/")
                .allowPrivateAddresses()
                .tls(tls.getSocketFactory())
                .names(any -> new InetAddress[] {LOOPBACK});
    }

    /** A certificate of the JDK's own making. */
    private static SSLContext tls(Path directory, String host) throws Exception {
        Path file = directory.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + host,
                        "-ext",
                        "san=dns:" + host,
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "changeit",
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, "changeit".toCharArray());
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, "changeit".toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(keys);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    private static Endpoint at(int port) {
        return Endpoint.of("http://127.0.0.1:" + port + "/").allowHttp().allowPrivateAddresses();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.8.9.1",
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "169.254.169.254",
                "0.0.0.0",
                "0.1.2.3",
                "100.64.0.1",
                "100.127.255.255",
                "192.0.0.8",
                "192.0.2.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::ffff:127.0.0.1",
                "::127.0.0.1",
                "fe80::1",
                "fc00::1",
                "fd12::1",
                "ff02::1",
                "64:ff9b::a00:1",
                "2001:db8::1",
                "2001::1",
                "2002:7f00:1::",
                "3fff::1",
                "fec0::1"
            })
    void notPublic(String address) {
        assertThat(PublicAddress.is(address(address))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "8.8.8.8",
                "172.15.0.1",
                "172.32.0.1",
                "100.63.0.1",
                "100.128.0.1",
                "192.0.1.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "2606:4700::1",
                "2a00:1450::1"
            })
    void open(String address) {
        assertThat(PublicAddress.is(address(address))).isTrue();
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
