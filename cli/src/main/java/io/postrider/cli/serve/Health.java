// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.cli.config.ServeConfig;
import io.postrider.internal.Json;
import io.postrider.relay.Relay;
import io.postrider.server.Request;
import io.postrider.server.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tells whoever runs the process how it fares. Not live: a relay is stuck, so that only a new process helps. Not ready: a
 * database cannot be reached, is not served yet, or a relay is behind. Asks nobody: a flood of requests costs no query.
 */
record Health(Map<String, ServedDatabase> databases, ServeConfig.Health limits) {

    Response live(Request request) {
        return answer(limits.liveWithin(), false);
    }

    Response ready(Request request) {
        return answer(limits.readyWithin(), true);
    }

    private Response answer(Duration within, boolean ready) {
        boolean up = true;
        Map<String, Object> shown = new LinkedHashMap<>();
        for (Map.Entry<String, ServedDatabase> each : databases.entrySet()) {
            String trouble = ready ? each.getValue().trouble().orElse("") : "";
            Map<String, Object> relays = new LinkedHashMap<>();
            boolean moving = true;
            for (Relay relay : each.getValue().relays()) {
                Duration since = relay.sinceLastTurn();
                boolean stuck = since.compareTo(within) > 0;
                relays.put(relay.name(), stuck ? "stuck for " + since.toSeconds() + " s" : "up");
                moving &= !stuck;
            }
            boolean well = trouble.isEmpty() && moving;
            Map<String, Object> database = new LinkedHashMap<>();
            database.put("status", well ? "up" : "down");
            if (!trouble.isEmpty()) {
                database.put("reason", trouble);
            }
            database.put("relays", relays);
            shown.put(each.getKey(), database);
            up &= well;
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("status", up ? "up" : "down");
        body.put("databases", shown);
        return new Response(
                up ? 200 : 503,
                Map.of("content-type", "application/json; charset=utf-8", "cache-control", "no-store"),
                Json.of(body).getBytes(StandardCharsets.UTF_8));
    }
}
