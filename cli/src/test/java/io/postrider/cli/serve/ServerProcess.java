// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Main;
import io.postrider.testkit.ChildJvm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;

/** {@code postrider serve} in a process of its own, started from a file. */
final class ServerProcess implements AutoCloseable {
    static final Duration LONG = Duration.ofSeconds(60);

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final ChildJvm child;
    private final String url;

    private ServerProcess(ChildJvm child) {
        this.child = child;
        String banner = child.awaitLine(line -> line.contains("Postrider serves "), LONG);
        url = banner.replaceFirst(".* at (http://localhost:[0-9]+/).*", "$1");
    }

    static ServerProcess start(Path directory, String yaml) {
        return new ServerProcess(child(directory, yaml));
    }

    /** Without waiting for it to listen. */
    static ChildJvm child(Path directory, String yaml) {
        Path file = directory.resolve("postrider.yaml");
        try {
            Files.writeString(file, yaml);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return ChildJvm.of(Main.class)
                .args("serve", "--config", file.toString())
                .jvmOptions("-Xmx128m", "-XX:TieredStopAtLevel=1")
                .start();
    }

    ChildJvm child() {
        return child;
    }

    List<String> lines() {
        return child.lines();
    }

    HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        try {
            return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    void awaitReady() {
        Awaitility.await().atMost(LONG).untilAsserted(() -> {
            assertAlive();
            assertThat(get("health/ready").statusCode())
                    .as(() -> String.join("\n", lines()))
                    .isEqualTo(200);
        });
    }

    /** Nobody need wait for one that has ended. */
    private void assertAlive() {
        if (!child.isAlive()) {
            throw new IllegalStateException("The server has ended with exit code "
                    + child.awaitExit(LONG).orElse(-1) + ": " + String.join("\n", lines()));
        }
    }

    /** Asks it to end, and returns the exit code. */
    int end() {
        child.terminate();
        return child.awaitExit(LONG).orElseThrow();
    }

    @Override
    public void close() {
        child.close();
    }
}
