// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.internal.JsonReader;
import io.postrider.ops.Actor;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The body of a request: the fields of a JSON object, none of which is trusted to be there or to be what it should. */
final class Fields {
    private static final int LONGEST_REASON = 2000;

    private final Map<?, ?> map;

    private Fields(Map<?, ?> map) {
        this.map = map;
    }

    static Fields of(Request request) {
        if (!request.header("content-type").orElse("").startsWith("application/json")) {
            throw Problem.badRequest("The body must be JSON, with the header Content-Type: application/json.");
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(request.body()))
                    .toString();
            if (JsonReader.read(text) instanceof Map<?, ?> map) {
                return new Fields(map);
            }
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest(String.valueOf(e.getMessage()));
        } catch (CharacterCodingException e) {
            throw Problem.badRequest("The body is not UTF-8.");
        }
        throw Problem.badRequest("The body must be a JSON object.");
    }

    boolean has(String name) {
        return map.get(name) != null;
    }

    @Nullable
    String text(String name) {
        @Nullable Object value = map.get(name);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw Problem.badRequest(name + " must be a text.");
    }

    boolean flag(String name) {
        @Nullable Object value = map.get(name);
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw Problem.badRequest(name + " must be true or false.");
    }

    Optional<Long> number(String name) {
        @Nullable Object value = map.get(name);
        if (value == null) {
            return Optional.empty();
        }
        if (value instanceof BigDecimal number && number.precision() - number.scale() < 19) {
            return Optional.of(number.longValue());
        }
        throw Problem.badRequest(name + " must be a whole number.");
    }

    List<UUID> ids(String name) {
        if (!(map.get(name) instanceof List<?> list)) {
            throw Problem.badRequest(name + " must be a list of event ids.");
        }
        return list.stream().map(each -> id(String.valueOf(each))).toList();
    }

    static UUID id(String text) {
        if (!text.matches("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")) {
            throw Problem.badRequest("An event id has the form 01234567-89ab-cdef-0123-456789abcdef.");
        }
        return UUID.fromString(text);
    }

    Map<String, String> texts(String name) {
        if (!(map.get(name) instanceof Map<?, ?> values)) {
            throw Problem.badRequest(name + " must be an object of texts.");
        }
        Map<String, String> texts = new LinkedHashMap<>();
        values.forEach((key, value) -> {
            if (!(value instanceof String text)) {
                throw Problem.badRequest(name + " must be an object of texts.");
            }
            texts.put(String.valueOf(key), text);
        });
        return texts;
    }

    /** Who does it, and why. */
    Actor actor(User user) {
        String reason = text("reason");
        if (reason == null || reason.isBlank()) {
            throw Problem.badRequest("Say why, in the field reason: it goes to the audit table.");
        }
        if (reason.length() > LONGEST_REASON) {
            throw Problem.badRequest("A reason has at most " + LONGEST_REASON + " characters.");
        }
        return new Actor(user.name(), reason.strip());
    }
}
