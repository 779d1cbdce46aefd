// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The dashboard's files, from this jar. Nothing of them is secret. Thread-safe. */
final class Assets {
    private static final Pattern PATH = Pattern.compile("/([a-z0-9-]+/)*[a-zA-Z0-9-]+(\\.[a-z0-9]+)+");
    private static final Pattern IMPORT_MAP =
            Pattern.compile("<script type=\"importmap\">(.*?)</script>", Pattern.DOTALL);
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "mjs", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml",
            "txt", "text/plain; charset=utf-8");

    @SuppressWarnings("ArrayRecordComponent") // sent, compared by nobody
    private record Asset(byte[] bytes, String type, String tag) {}

    private final Map<String, Optional<Asset>> loaded = new ConcurrentHashMap<>();
    private final String policy;

    Assets() {
        byte[] index = load("/index.html").orElseThrow().bytes();
        policy = "default-src 'none'; script-src 'self' 'sha256-" + importMapDigest(index)
                + "'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
                + " frame-ancestors 'none'";
    }

    /** No code and no style but ours: the one script within the page, the import map, is known by its digest. */
    String policy() {
        return policy;
    }

    Optional<Response> find(Request request) {
        String path = request.path().equals("/") || request.path().isEmpty() ? "/index.html" : request.path();
        if (!PATH.matcher(path).matches()) {
            return Optional.empty();
        }
        return loaded.computeIfAbsent(path, Assets::load).map(asset -> {
            Map<String, String> headers = new LinkedHashMap<>();
            headers.put("etag", asset.tag());
            headers.put("cache-control", "no-cache");
            if (request.header("if-none-match").filter(asset.tag()::equals).isPresent()) {
                return new Response(304, headers, new byte[0]);
            }
            headers.put("content-type", asset.type());
            return new Response(200, headers, asset.bytes());
        });
    }

    private static Optional<Asset> load(String path) {
        String type = TYPES.get(path.substring(path.lastIndexOf('.') + 1));
        try (InputStream in = Assets.class.getResourceAsStream("web" + path)) {
            if (in == null || type == null) {
                return Optional.empty();
            }
            byte[] bytes = in.readAllBytes();
            String tag = '"' + HexFormat.of().formatHex(Secret.sha256(bytes), 0, 12) + '"';
            return Optional.of(new Asset(bytes, type, tag));
        } catch (IOException e) {
            throw new UncheckedIOException("The dashboard's file " + path + " cannot be read from the jar", e);
        }
    }

    private static String importMapDigest(byte[] index) {
        Matcher map = IMPORT_MAP.matcher(new String(index, StandardCharsets.UTF_8));
        if (!map.find()) {
            throw new IllegalStateException("The dashboard's page has no import map.");
        }
        return Base64.getEncoder().encodeToString(Secret.sha256(map.group(1).getBytes(StandardCharsets.UTF_8)));
    }
}
