// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Asks the web server of an application as browsers and scripts do. */
record WebClient(TestApplication app, String base, List<String> headers) {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** @param headers names and values by turns */
    static WebClient of(TestApplication app, String base, String... headers) {
        return new WebClient(app, base, List.of(headers));
    }

    WebClient with(String... headers) {
        return of(app, base, headers);
    }

    private HttpRequest.Builder request(String path) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://localhost:" + app.port() + base + path));
        return headers.isEmpty() ? request : request.headers(headers.toArray(String[]::new));
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return HTTP.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> head(String path) throws IOException, InterruptedException {
        return HTTP.send(
                request(path)
                        .method("HEAD", HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
        return HTTP.send(
                request(path)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    /** Lines as they come, until the server ends them. */
    BufferedReader live() throws IOException, InterruptedException {
        return new BufferedReader(new InputStreamReader(
                HTTP.send(request("/api/live").build(), HttpResponse.BodyHandlers.ofInputStream())
                        .body(),
                StandardCharsets.UTF_8));
    }

    /** The first line of the answer to a request with a Host of its own choice. */
    String statusFor(String host, String path) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), app.port())) {
            socket.getOutputStream()
                    .write(("GET " + base + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }
}
