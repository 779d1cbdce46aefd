// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Actor;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetterQuery;
import io.postrider.ops.DeadLetters;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Dead letters: by groups, one by one, and what is done about them. */
final class DeadLettersApi {
    private static final int GROUPED = 50_000;
    private static final int COUNTED = 100_000;
    private static final int PAGE = 1000;
    /** One request changes no more, so that it ends in time; the next goes on. */
    private static final int PAGES_AT_ONCE = 10;

    private final DeadLetters dead;

    DeadLettersApi(Storage storage) {
        dead = DeadLetters.of(storage.dataSource(), storage.tables());
    }

    private interface Act {
        int on(List<DeadLetter> letters, Actor actor);
    }

    void mount(Router router) {
        router.get("/api/dead-letters", Role.VIEWER, this::find);
        router.get("/api/dead-letters/groups", Role.VIEWER, call -> groups());
        router.post("/api/dead-letters/requeue", Role.OPERATOR, call -> change(call, dead::requeue));
        router.post("/api/dead-letters/unhold", Role.OPERATOR, call -> change(call, dead::unhold));
        router.post("/api/dead-letters/discard", Role.ADMIN, call -> change(call, dead::discard));
    }

    private Answer groups() {
        List<DeadLetters.Group> groups = dead.groups(GROUPED);
        long all = groups.stream().mapToLong(DeadLetters.Group::count).sum();
        return Response.json(Map.of(
                "groups", groups.stream().map(DeadLettersApi::group).toList(), "count", all, "more", all >= GROUPED));
    }

    private static Map<String, Object> group(DeadLetters.Group group) {
        return Map.of(
                "stream", group.stream(),
                "type", group.type(),
                "error", group.errorCode(),
                "count", group.count(),
                "holding", group.holding(),
                "oldest", group.oldest(),
                "newest", group.newest(),
                "errorMessage", group.exampleMessage());
    }

    private Answer find(Router.Call call) {
        DeadLetterQuery query = new DeadLetterQuery(
                call.query("stream").orElse(null),
                call.query("key").orElse(null),
                call.query("type").orElse(null),
                call.query("error").orElse(null),
                call.query("id").map(Fields::id).orElse(null),
                call.number("after", 0, 0, Long.MAX_VALUE),
                call.limit());
        List<DeadLetter> found = dead.find(query);
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("letters", found.stream().map(DeadLettersApi::letter).toList());
        json.put(
                "next",
                found.size() < query.limit()
                        ? null
                        : Long.toString(found.get(found.size() - 1).id()));
        return Response.json(json);
    }

    private static Map<String, @Nullable Object> letter(DeadLetter letter) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("row", letter.id());
        json.put("event", letter.eventId());
        json.put("stream", letter.stream());
        json.put("type", letter.type());
        json.put("key", letter.key());
        json.put("aggregateType", letter.aggregateType());
        json.put("aggregateId", letter.aggregateId());
        json.put("holds", letter.holdsKey());
        json.put("attempts", letter.attempts());
        json.put("error", letter.errorCode());
        json.put("errorMessage", letter.errorMessage());
        json.put("createdAt", letter.createdAt());
        json.put("lastAttemptAt", letter.lastAttemptAt());
        return json;
    }

    private Answer change(Router.Call call, Act act) {
        Fields fields = Fields.of(call.request());
        boolean all = fields.flag("all");
        if (all == fields.has("events")) {
            throw Problem.badRequest("Name the events, or say all: true with what they must match.");
        }
        return all ? changeAll(fields, call.user(), act) : changeNamed(fields, call.user(), act);
    }

    private Answer changeNamed(Fields fields, User user, Act act) {
        List<UUID> ids = fields.ids("events");
        if (ids.isEmpty() || ids.size() > PAGE) {
            throw Problem.badRequest("Name 1 to " + PAGE + " events.");
        }
        List<DeadLetter> letters = dead.named(ids);
        if (fields.flag("dryRun")) {
            return Response.json(Map.of("count", letters.size(), "more", false));
        }
        return Response.json(Map.of("changed", act.on(letters, fields.actor(user))));
    }

    /** Those that were there at the dry run, which says up to which row; what dies later is not changed unseen. */
    private Answer changeAll(Fields fields, User user, Act act) {
        DeadLetterQuery query = new DeadLetterQuery(
                fields.text("stream"),
                fields.text("key"),
                fields.text("type"),
                fields.text("error"),
                null,
                fields.number("after").orElse(0L),
                PAGE);
        if (fields.flag("dryRun")) {
            DeadLetters.Count count = dead.count(query, COUNTED);
            long newest = count.found() >= COUNTED ? Long.MAX_VALUE : count.newest();
            return Response.json(
                    Map.of("count", count.found(), "more", count.found() >= COUNTED, "upTo", Long.toString(newest)));
        }
        Actor actor = fields.actor(user);
        long upTo = upTo(fields.text("upTo"));
        int changed = 0;
        for (int i = 0; i < PAGES_AT_ONCE; i++) {
            List<DeadLetter> page = dead.find(query);
            List<DeadLetter> seen =
                    page.stream().filter(each -> each.id() <= upTo).toList();
            if (!seen.isEmpty()) {
                changed += act.on(seen, actor);
            }
            if (seen.size() < PAGE) {
                return Response.json(Map.of("changed", changed));
            }
            query = query.after(page.get(PAGE - 1));
        }
        return Response.json(Map.of("changed", changed, "next", query.afterId()));
    }

    private static long upTo(@Nullable String text) {
        if (text == null || !text.matches("\\d{1,19}")) {
            throw Problem.badRequest("Give upTo, as the dry run said it: what dies later is not changed unseen.");
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw Problem.badRequest("upTo is out of range.");
        }
    }
}
