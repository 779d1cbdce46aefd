// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.io.Serial;
import java.util.LinkedHashMap;
import java.util.Map;

/** Why a request is not answered, as problem+json tells it (RFC 9457). */
final class Problem extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final String title;
    private final transient Map<String, String> headers;

    private Problem(int status, String title, String detail) {
        this(status, title, detail, Map.of());
    }

    private Problem(int status, String title, String detail, Map<String, String> headers) {
        super(detail, null, false, false);
        this.status = status;
        this.title = title;
        this.headers = headers;
    }

    static Problem badRequest(String detail) {
        return new Problem(400, "This cannot be asked so", detail);
    }

    static Problem unauthorized(String detail) {
        return new Problem(401, "Who are you?", detail);
    }

    static Problem forbidden(String detail) {
        return new Problem(403, "Not allowed", detail);
    }

    static Problem notFound(String detail) {
        return new Problem(404, "Not found", detail);
    }

    static Problem conflict(String detail) {
        return new Problem(409, "It has changed meanwhile", detail);
    }

    static Problem tooLarge(int bytes) {
        return new Problem(413, "Too large", "A request has at most " + bytes + " bytes.");
    }

    static Problem tooMany(long seconds) {
        return new Problem(
                429,
                "Too many attempts",
                "Too many attempts to sign in have failed from your address. Try again in " + seconds + " s.",
                Map.of("retry-after", String.valueOf(seconds)));
    }

    static Problem unavailable(String detail) {
        return new Problem(503, "Not possible now", detail);
    }

    static Problem failed(String detail) {
        return new Problem(500, "Something failed here", detail);
    }

    int status() {
        return status;
    }

    Response response() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "about:blank");
        body.put("title", title);
        body.put("status", status);
        body.put("detail", getMessage());
        return Response.json(status, "application/problem+json", body).with(headers);
    }
}
