// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import io.postrider.ops.AlertChannel;
import io.postrider.ops.AlertKind;
import io.postrider.ops.Condition;
import io.postrider.ops.Endpoint;
import io.postrider.ops.LogChannel;
import io.postrider.ops.SlackChannel;
import io.postrider.ops.WebhookChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who is told what is wrong with one database, and from when on it is wrong. */
public record AlertsConfig(
        List<AlertChannel> channels,
        List<Condition> conditions,
        List<AlertKind> ignored,
        Duration newsEvery,
        Duration remindEvery) {

    static AlertsConfig of(Section section) {
        List<AlertChannel> channels = new ArrayList<>();
        if (section.flag("log", true)) {
            channels.add(new LogChannel());
        }
        slack(section.section("slack")).ifPresent(channels::add);
        webhook(section.section("webhook")).ifPresent(channels::add);
        Duration news = section.duration("news-every", Duration.ofMinutes(5));
        Duration remind = section.duration("remind-every", Duration.ofHours(4));
        if (remind.compareTo(news) < 0 || remind.compareTo(Duration.ofDays(7)) > 0) {
            section.refuse(
                    "remind-every",
                    Span.of(remind) + " was found, from news-every (" + Span.of(news) + ") to 7d is expected.");
        }
        return new AlertsConfig(channels, conditions(section.section("thresholds")), ignored(section), news, remind);
    }

    private static Optional<AlertChannel> slack(Section section) {
        String url = section.needed("url", "${SLACK_WEBHOOK_URL}");
        String channel = section.text("channel", "#alerts");
        return url.isEmpty()
                ? Optional.empty()
                : section.checked(
                        "url",
                        () -> Optional.of(SlackChannel.of(Endpoint.of(url)).channel(channel)),
                        Optional.empty());
    }

    private static Optional<AlertChannel> webhook(Section section) {
        String url = section.needed("url", "https://host/path");
        String secret = section.needed("secret", "${A_VARIABLE} with 16 bytes or more that the receiver knows too");
        boolean http = section.flag("allow-http", false);
        boolean inside = section.flag("allow-private-addresses", false);
        if (url.isEmpty() || secret.isEmpty()) {
            return Optional.empty();
        }
        return section.checked(
                "url",
                () -> {
                    Endpoint endpoint = Endpoint.of(url);
                    endpoint = http ? endpoint.allowHttp() : endpoint;
                    endpoint = inside ? endpoint.allowPrivateAddresses() : endpoint;
                    return Optional.of(WebhookChannel.of(endpoint, secret));
                },
                Optional.empty());
    }

    private static List<Condition> conditions(Section section) {
        return List.of(
                new Condition.Pending(section.number("pending", 10_000, 1, Long.MAX_VALUE)),
                new Condition.Retrying(section.number("retrying", 100, 1, Long.MAX_VALUE)),
                new Condition.Oldest(section.duration("oldest", Duration.ofMinutes(15))),
                new Condition.KeyHeld(section.duration("held-key", Duration.ofHours(1))),
                new Condition.RelaySilent(section.duration("relay-silent", Duration.ofSeconds(30))),
                new Condition.NoRelay(section.duration("no-relay", Duration.ofMinutes(1))));
    }

    private static List<AlertKind> ignored(Section section) {
        Map<String, AlertKind> kinds = new LinkedHashMap<>();
        Arrays.stream(AlertKind.values()).forEach(each -> kinds.put(each.code(), each));
        List<AlertKind> ignored = new ArrayList<>();
        section.texts("ignore").forEach(code -> {
            AlertKind kind = kinds.get(code);
            if (kind == null) {
                section.refuse(
                        "ignore",
                        "'" + code + "' was found, some of " + String.join(", ", kinds.keySet()) + " are expected.");
            } else {
                ignored.add(kind);
            }
        });
        return ignored;
    }
}
