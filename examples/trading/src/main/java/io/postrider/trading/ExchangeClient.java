// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;

/** What a worker says to the exchange, and how it understands the answer. Thread-safe. */
final class ExchangeClient {
    /** After this the exchange does not take the order any more, whenever it arrives. */
    static final Duration VALID_FOR = Duration.ofSeconds(1);

    private static final Duration PATIENCE = Duration.ofMillis(700);

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final String url;

    ExchangeClient(String url) {
        this.url = url;
    }

    /** What the exchange made of an order. */
    sealed interface Answer {
        record Acked() implements Answer {}

        record Rejected(String reason) implements Answer {}

        record Throttled(Duration retryAfter) implements Answer {}

        /** It came too late, and is not in the book. */
        record Expired() implements Answer {}

        /** No answer, or one that says nothing about the book. */
        record Unknown() implements Answer {}
    }

    /** @param expires to be read from the clock before it is noted that the order is sent */
    Answer place(String clientId, Instant expires) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + clientId + "?expires=" + expires.toEpochMilli()))
                .timeout(PATIENCE)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            HttpResponse<Void> response = http.send(request, HttpResponse.BodyHandlers.discarding());
            int status = response.statusCode();
            if (status == 200) {
                return new Answer.Acked();
            }
            if (status == Exchange.THROTTLED) {
                long seconds =
                        response.headers().firstValueAsLong("Retry-After").orElse(1);
                return new Answer.Throttled(Duration.ofSeconds(seconds));
            }
            if (status == Exchange.EXPIRED) {
                return new Answer.Expired();
            }
            return status < 500 ? new Answer.Rejected("STATUS_" + status) : new Answer.Unknown();
        } catch (IOException e) {
            return new Answer.Unknown();
        }
    }

    /** Whether the order is in the book; asked when it has expired, the answer is final. */
    boolean has(String clientId) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + clientId))
                .timeout(PATIENCE)
                .GET()
                .build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        if (status != 200 && status != 404) {
            throw new IOException("The exchange answered " + status);
        }
        return status == 200;
    }
}
