// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Audit;
import io.postrider.ops.Checkup;
import io.postrider.ops.Consumers;
import io.postrider.ops.HeldKeys;
import io.postrider.ops.Relays;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What there is to look at besides events: held keys, relays and shards, consumers, problems, the audit table. */
final class LookApi {
    private static final int COUNTED = 100_000;
    private static final int HELD_KEYS = 200;

    private final Storage storage;

    LookApi(Storage storage) {
        this.storage = storage;
    }

    void mount(Router router) {
        router.get(
                "/api/me",
                Role.VIEWER,
                call -> Response.json(
                        Map.of("name", call.user().name(), "role", call.user().role())));
        router.get("/api/held-keys", Role.VIEWER, this::heldKeys);
        router.get("/api/relays", Role.VIEWER, call -> relays());
        router.get("/api/inbox", Role.VIEWER, call -> inbox());
        router.get("/api/problems", Role.VIEWER, call -> problems());
        router.get("/api/audit", Role.VIEWER, this::audit);
    }

    private Answer heldKeys(Router.Call call) {
        List<HeldKeys.HeldKey> keys = HeldKeys.of(storage.dataSource(), storage.tables())
                .find(call.query("stream").orElse(null), call.query("key").orElse(null), HELD_KEYS);
        return Response.json(
                Map.of("keys", keys.stream().map(LookApi::heldKey).toList(), "more", keys.size() == HELD_KEYS));
    }

    private static Map<String, @Nullable Object> heldKey(HeldKeys.HeldKey key) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("stream", key.stream());
        json.put("key", key.key());
        json.put("event", key.eventId());
        json.put("type", key.type());
        json.put("state", key.state().name());
        json.put("attempts", key.attempts());
        json.put("error", key.errorCode());
        json.put("errorMessage", key.errorMessage());
        json.put("since", key.since());
        json.put("retryAt", key.retryAt());
        json.put("behind", key.behind());
        json.put("more", key.more());
        return json;
    }

    /** The shards of a group in order, each as the id of its owner or null. */
    private Answer relays() {
        Relays relays = Relays.of(storage.dataSource(), storage.tables());
        Map<String, List<Relays.Shard>> groups = new LinkedHashMap<>();
        relays.shards()
                .forEach(each -> groups.computeIfAbsent(each.group(), name -> new ArrayList<>())
                        .add(each));
        List<Map<String, Object>> shown = groups.entrySet().stream()
                .map(each -> Map.<String, Object>of(
                        "group",
                        each.getKey(),
                        "shards",
                        each.getValue().stream().map(LookApi::shard).toList()))
                .toList();
        return Response.json(Map.of(
                "relays", relays.members().stream().map(OverviewApi::relay).toList(), "groups", shown));
    }

    private static Map<String, @Nullable Object> shard(Relays.Shard shard) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("shard", shard.shard());
        json.put("owner", shard.owner().map(Relays.Owner::id));
        json.put("name", shard.owner().map(Relays.Owner::name));
        json.put("epoch", shard.epoch());
        json.put("unclean", shard.unclean());
        return json;
    }

    private Answer inbox() {
        List<Map<String, @Nullable Object>> consumers = new ArrayList<>();
        for (Consumers.Consumer each :
                Consumers.of(storage.dataSource(), storage.tables()).all(COUNTED)) {
            Map<String, @Nullable Object> json = new LinkedHashMap<>();
            json.put("name", each.name());
            json.put("processed", each.processed());
            json.put("newest", each.newest());
            consumers.add(json);
        }
        return Response.json(Map.of("consumers", consumers, "bound", COUNTED));
    }

    private Answer problems() {
        List<Map<String, Object>> findings = Checkup.of(storage.dataSource(), storage.tables()).run().stream()
                .map(each -> Map.<String, Object>of(
                        "check", each.check(),
                        "level", each.level(),
                        "what", each.what(),
                        "advice", each.advice()))
                .toList();
        return Response.json(Map.of("findings", findings));
    }

    private Answer audit(Router.Call call) {
        int limit = call.limit();
        Audit.Query query = new Audit.Query(
                call.query("id").map(Fields::id).orElse(null),
                call.query("stream").orElse(null),
                call.query("who").orElse(null),
                call.query("action").orElse(null));
        List<Audit.Entry> entries = Audit.of(storage.dataSource(), storage.tables())
                .find(query, call.number("before", Long.MAX_VALUE, 1, Long.MAX_VALUE), limit);
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("entries", entries.stream().map(LookApi::auditEntry).toList());
        json.put(
                "next",
                entries.size() < limit
                        ? Optional.empty()
                        : Long.toString(entries.get(limit - 1).id()));
        return Response.json(json);
    }

    static Map<String, @Nullable Object> auditEntry(Audit.Entry entry) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("id", entry.id());
        json.put("at", entry.at());
        json.put("who", entry.who());
        json.put("action", entry.action());
        json.put("stream", entry.stream());
        json.put("event", entry.eventId());
        json.put("reason", entry.reason());
        return json;
    }
}
