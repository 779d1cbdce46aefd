// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * One HTTP/1.1 POST to an address that was chosen before. The JDK's client resolves names by itself, so that what was checked
 * need not be what it connects to; hence a socket. TLS is for the host's name, whichever address it has.
 */
final class Post {
    private static final int LONGEST_STATUS_LINE = 512;
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] ([0-9]{3})( .*)?");

    private final URI uri;
    private final SSLSocketFactory tls;
    private final Duration timeout;

    Post(URI uri, SSLSocketFactory tls, Duration timeout) {
        this.uri = uri;
        this.tls = tls;
        this.timeout = timeout;
    }

    /** @param shown the receiver, as it may be named in a message */
    void send(List<InetAddress> addresses, byte[] body, Map<String, String> headers, String shown) throws IOException {
        int status;
        try (Socket socket = connected(addresses)) {
            status = status(socket, body, headers);
        } catch (IOException e) {
            throw new IOException("Posting to " + shown + " failed: " + e.getMessage(), e);
        }
        if (status >= 300 && status < 400) {
            throw new IOException(shown + " answered " + status + ": redirects are not followed. Give the final URL.");
        }
        if (status < 200 || status >= 300) {
            throw new IOException(shown + " answered " + status);
        }
    }

    /** To the first that answers; half of the time is for that. */
    private Socket connected(List<InetAddress> addresses) throws IOException {
        int port = uri.getPort() >= 0 ? uri.getPort() : secure() ? 443 : 80;
        int each = (int) Math.max(1, timeout.toMillis() / 2 / addresses.size());
        IOException last = new IOException("there is no address");
        for (InetAddress address : addresses) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(address, port), each);
                return socket;
            } catch (IOException e) {
                close(socket);
                last = e;
            }
        }
        throw last;
    }

    private int status(Socket socket, byte[] body, Map<String, String> headers) throws IOException {
        long left = Math.max(1, timeout.toMillis() / 2);
        // The one limit that holds for a peer who sends a byte now and then.
        AtomicBoolean late = new AtomicBoolean();
        Runnable giveUp = () -> {
            late.set(true);
            close(socket);
        };
        CompletableFuture<Void> limit =
                CompletableFuture.runAsync(giveUp, CompletableFuture.delayedExecutor(left, TimeUnit.MILLISECONDS));
        try {
            return status(exchange(socket, body, headers));
        } catch (IOException e) {
            if (late.get()) {
                throw new IOException("no answer within " + left + " ms", e);
            }
            throw e;
        } finally {
            limit.cancel(false);
        }
    }

    private InputStream exchange(Socket socket, byte[] body, Map<String, String> headers) throws IOException {
        Socket spoken = secure() ? secured(socket) : socket;
        OutputStream out = spoken.getOutputStream();
        out.write(head(body.length, headers).getBytes(StandardCharsets.ISO_8859_1));
        out.write(body);
        out.flush();
        return spoken.getInputStream();
    }

    private SSLSocket secured(Socket socket) throws IOException {
        String host = uri.getHost().replaceAll("[\\[\\]]", "");
        SSLSocket secured = (SSLSocket) tls.createSocket(socket, host, socket.getPort(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private String head(int length, Map<String, String> headers) {
        String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        StringBuilder head = new StringBuilder("POST ").append(path);
        if (uri.getRawQuery() != null) {
            head.append('?').append(uri.getRawQuery());
        }
        head.append(" HTTP/1.1\r\nHost: ").append(uri.getHost());
        if (uri.getPort() >= 0) {
            head.append(':').append(uri.getPort());
        }
        head.append("\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ")
                .append(length);
        head.append("\r\nUser-Agent: Postrider\r\nConnection: close\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        return head.append("\r\n").toString();
    }

    /** Reads no further than the first line. */
    private static int status(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        int c;
        while ((c = in.read()) >= 0 && c != '\n' && line.length() < LONGEST_STATUS_LINE) {
            line.append((char) c);
        }
        Matcher matcher = STATUS.matcher(line.toString().stripTrailing());
        if (!matcher.matches()) {
            throw new IOException(
                    line.isEmpty() ? "the connection was closed without an answer" : "the answer is not HTTP/1.1");
        }
        return Integer.parseInt(matcher.group(1));
    }

    private boolean secure() {
        return "https".equalsIgnoreCase(uri.getScheme());
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is given up either way.
        }
    }
}
