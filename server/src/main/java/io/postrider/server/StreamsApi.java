// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import io.postrider.ops.Actor;
import io.postrider.ops.Backlog;
import io.postrider.ops.Streams;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Streams: how each is delivered, paused and resumed. */
final class StreamsApi {
    private final Sampler sampler;
    private final Streams streams;

    StreamsApi(Storage storage, Sampler sampler) {
        this.sampler = sampler;
        this.streams = Streams.of(storage.dataSource(), storage.tables());
    }

    private interface Act {
        boolean on(String stream, Actor actor);
    }

    void mount(Router router) {
        router.get("/api/streams", Role.VIEWER, call -> streams());
        router.post("/api/streams/pause", Role.OPERATOR, call -> change(call, streams::pause, "paused already"));
        router.post("/api/streams/resume", Role.OPERATOR, call -> change(call, streams::resume, "not paused"));
    }

    /** Numbers may be some seconds old, pauses may not: who has paused a stream wants to see it. */
    private Answer streams() {
        Map<String, Streams.Known> known =
                streams.known().stream().collect(Collectors.toMap(Streams.Known::name, Function.identity()));
        Sampler.View view = sampler.view();
        Sample sample = view.sample().orElseThrow(() -> Problem.unavailable(view.trouble()));
        List<Map<String, @Nullable Object>> all = sample.streams().stream()
                .map(each -> stream(each, sample, known.get(each.name())))
                .toList();
        return Response.json(Map.of("streams", all, "bound", sample.bound(), "at", sample.at()));
    }

    private static Map<String, @Nullable Object> stream(
            Backlog.Stream stream, Sample sample, Streams.@Nullable Known known) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>(OverviewApi.stream(stream, sample));
        json.put("known", known != null);
        if (known != null) {
            json.put("mode", known.mode());
            json.put("onDead", known.onDead());
            json.put("history", known.history());
            json.put("since", known.since());
            json.put("pause", known.pause().map(OverviewApi::pause));
        }
        return json;
    }

    private static Answer change(Router.Call call, Act act, String otherwise) {
        Fields fields = Fields.of(call.request());
        String stream = fields.text("stream");
        if (stream == null || stream.isEmpty()) {
            throw Problem.badRequest("Say which stream.");
        }
        if (!act.on(stream, fields.actor(call.user()))) {
            throw Problem.conflict("Stream " + stream + " is " + otherwise + ", or no relay has met it yet.");
        }
        return Response.json(Map.of("changed", 1));
    }
}
