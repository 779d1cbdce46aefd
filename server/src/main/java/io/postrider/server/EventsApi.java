// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.OutboxException;
import io.postrider.ops.Audit;
import io.postrider.ops.DeadLetter;
import io.postrider.ops.DeadLetters;
import io.postrider.ops.Edit;
import io.postrider.ops.EventContent;
import io.postrider.ops.EventQuery;
import io.postrider.ops.History;
import io.postrider.ops.HistorySearch;
import io.postrider.ops.Undelivered;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Events, undelivered or in the history: found, shown, edited. */
final class EventsApi {
    private final Storage storage;
    private final EventViews views;
    private final Undelivered undelivered;
    private final History history;
    private final DeadLetters dead;

    EventsApi(Storage storage, Redaction redaction) {
        this.storage = storage;
        this.views = new EventViews(redaction);
        this.undelivered = Undelivered.of(storage.dataSource(), storage.tables());
        this.history = History.of(storage.dataSource(), storage.tables());
        this.dead = DeadLetters.of(storage.dataSource(), storage.tables());
    }

    void mount(Router router) {
        router.get("/api/events", Role.VIEWER, this::find);
        router.get("/api/events/{id}", Role.VIEWER, this::show);
        router.post("/api/events/{id}/edit", Role.ADMIN, this::edit);
    }

    private Answer find(Router.Call call) {
        boolean delivered = call.query("in").orElse("undelivered").equals("history");
        Optional<String> id = call.query("id");
        if (id.isPresent()) {
            UUID eventId = Fields.id(id.get());
            return page(
                    delivered
                            ? history.find(eventId).stream()
                                    .map(EventViews::entry)
                                    .toList()
                            : undelivered.find(eventId).stream()
                                    .map(EventViews::event)
                                    .toList(),
                    Optional.empty());
        }
        EventQuery query = query(call);
        if (delivered) {
            HistorySearch.Page page;
            try {
                page = history.search(query).page(call.query("after").orElse(null), call.limit());
            } catch (IllegalArgumentException e) {
                throw Problem.badRequest(String.valueOf(e.getMessage()));
            }
            return page(page.entries().stream().map(EventViews::entry).toList(), page.next());
        }
        Undelivered.Page page = undelivered.search(query, call.number("after", 0, 0, Long.MAX_VALUE), call.limit());
        return page(
                page.events().stream().map(EventViews::event).toList(),
                page.searchedTo().isPresent()
                        ? Optional.of(Long.toString(page.searchedTo().getAsLong()))
                        : Optional.empty());
    }

    private static Response page(List<?> events, Optional<String> next) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("events", events);
        json.put("next", next);
        return Response.json(json);
    }

    private static EventQuery query(Router.Call call) {
        return new EventQuery(
                call.query("stream").orElse(null),
                call.query("type").orElse(null),
                call.query("key").orElse(null),
                call.query("aggregateType").orElse(null),
                call.query("aggregateId").orElse(null),
                call.query("error").orElse(null),
                call.query("state").orElse(null),
                time(call, "since"),
                time(call, "until"));
    }

    private static @Nullable Instant time(Router.Call call, String name) {
        Optional<String> text = call.query(name);
        try {
            return text.map(Instant::parse).orElse(null);
        } catch (DateTimeParseException e) {
            throw Problem.badRequest(name + " must be a time such as 2026-11-16T08:00:00Z.");
        }
    }

    private Answer show(Router.Call call) {
        UUID id = Fields.id(String.valueOf(call.path().get("id")));
        Map<String, @Nullable Object> json;
        Optional<Undelivered.Event> found = undelivered.find(id);
        List<History.Entry> entries = history.find(id);
        if (found.isPresent()) {
            json = EventViews.event(found.get());
            json.put("waiting", Waiting.of(found.get(), storage).json());
            content(json, undelivered.content(found.get()), call.user());
        } else if (!entries.isEmpty()) {
            json = EventViews.entry(entries.get(0));
            content(json, history.content(entries.get(0)), call.user());
        } else {
            throw Problem.notFound("No event has the id " + id
                    + ". Its transaction never committed, or its history is no longer kept.");
        }
        json.put("settled", entries.stream().map(EventViews::entry).toList());
        json.put(
                "failedAttempts",
                dead.attempts(id).stream().map(EventViews::attempt).toList());
        Audit audit = Audit.of(storage.dataSource(), storage.tables());
        json.put(
                "audit",
                audit.find(new Audit.Query(id, null, null, null), Long.MAX_VALUE, 100).stream()
                        .map(LookApi::auditEntry)
                        .toList());
        return Response.json(json);
    }

    private void content(Map<String, @Nullable Object> json, Optional<EventContent> content, User user) {
        content.ifPresent(each -> json.putAll(views.content(each, user.role())));
    }

    private Answer edit(Router.Call call) {
        UUID id = Fields.id(String.valueOf(call.path().get("id")));
        Fields fields = Fields.of(call.request());
        List<DeadLetter> letters = dead.named(List.of(id));
        if (letters.isEmpty()) {
            throw Problem.conflict("Event " + id + " is no dead letter. Look again where it is.");
        }
        DeadLetter letter = letters.get(0);
        long seen = fields.number("revision")
                .orElseThrow(() -> Problem.badRequest("Give the revision that was shown with the event."));
        if (letter.revision() != seen) {
            throw Problem.conflict("Event " + id + " was changed by somebody else since you looked. Look again.");
        }
        Edit edit = change(fields, letter);
        boolean changed;
        try {
            changed = dead.edit(letter, edit, fields.actor(call.user()));
        } catch (OutboxException e) {
            if (e.getCause() instanceof OutboxException) {
                throw Problem.badRequest(String.valueOf(e.getMessage()));
            }
            throw e;
        }
        if (!changed) {
            throw Problem.conflict("Event " + id + " was changed by somebody else just now. Look again.");
        }
        return Response.json(Map.of("changed", 1));
    }

    private Edit change(Fields fields, DeadLetter letter) {
        Edit edit = Edit.none();
        String payload = fields.text("payload");
        if (fields.flag("tombstone")) {
            edit = edit.tombstone();
        } else if (payload != null) {
            if (payload.contains(Redaction.HIDDEN)) {
                throw Problem.badRequest("The payload says " + Redaction.HIDDEN + ", which would be sent so. Write the"
                        + " whole payload, or run: postrider dead edit --payload-file");
            }
            edit = edit.payload(payload.getBytes(StandardCharsets.UTF_8));
        }
        String contentType = fields.text("contentType");
        if (contentType != null && !contentType.isBlank()) {
            edit = edit.contentType(contentType);
        }
        if (fields.has("headers")) {
            edit = edit.headers(unhidden(fields.texts("headers"), letter));
        }
        return edit;
    }

    /** What was hidden stays as it is. */
    private Map<String, String> unhidden(Map<String, String> headers, DeadLetter letter) {
        Map<String, String> stored =
                dead.content(letter).map(DeadLetters.Content::headers).orElse(Map.of());
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.replaceAll((name, value) -> value.equals(Redaction.HIDDEN) ? stored.getOrDefault(name, value) : value);
        return all;
    }
}
