// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.cli.config.RelayConfig;
import io.postrider.cli.config.ServeConfig;
import io.postrider.internal.Json;
import io.postrider.relay.Relay;
import io.postrider.server.Request;
import io.postrider.server.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
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
            List<Relay> running = each.getValue().relays();
            for (int i = 0; i < running.size(); i++) {
                Relay relay = running.get(i);
                Duration since = relay.sinceLastTurn();
                // They are started in the order of the file. One that has nothing to do goes round as seldom as it
                // polls.
                RelayConfig config = each.getValue().config().relays().get(i);
                Duration idle = config.times().idlePoll().multipliedBy(config.loops());
                boolean stuck = since.compareTo(within.plus(idle)) > 0;
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
