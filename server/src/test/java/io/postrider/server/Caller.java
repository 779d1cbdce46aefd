// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.internal.Json;
import io.postrider.internal.JsonReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Calls the API as a script does. */
final class Caller {
    private final HttpClient client = HttpClient.newHttpClient();
    private final String url;
    private final Map<String, String> headers;

    Caller(DashboardServer server, Map<String, String> headers) {
        this.url = server.url();
        this.headers = headers;
    }

    static Caller of(DashboardServer server) {
        return new Caller(server, Map.of());
    }

    /** An answer, read. */
    record Told(int status, Map<?, ?> json, HttpResponse<String> response) {
        String text(String name) {
            return String.valueOf(json.get(name));
        }

        List<Object> list(String name) {
            return new ArrayList<>((List<?>) Objects.requireNonNull(json.get(name)));
        }

        Map<?, ?> first(String name) {
            return (Map<?, ?>) list(name).get(0);
        }

        Map<?, ?> object(String name) {
            return (Map<?, ?>) Objects.requireNonNull(json.get(name));
        }
    }

    Told get(String path) {
        return read(send(request(path).GET()));
    }

    Told post(String path, Map<String, ?> body) {
        return read(send(request(path)
                .header("Content-Type", "application/json")
                .header("X-Postrider", "1")
                .POST(HttpRequest.BodyPublishers.ofString(Json.of(body)))));
    }

    HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path));
        headers.forEach(request::header);
        return request;
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    static Told read(HttpResponse<String> response) {
        Object json = Objects.requireNonNull(JsonReader.read(response.body()));
        return new Told(response.statusCode(), (Map<?, ?>) json, response);
    }
}
