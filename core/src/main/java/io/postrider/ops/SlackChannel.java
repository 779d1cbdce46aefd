// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tells a Slack channel by an incoming webhook. What comes from events is shown as it is: it cannot mention people or make
 * links. Thread-safe.
 */
public final class SlackChannel implements AlertChannel {
    private static final int ERROR_LENGTH = 200;

    private final Endpoint webhook;
    private final String channel;

    private SlackChannel(Endpoint webhook, String channel) {
        this.webhook = webhook;
        this.channel = channel;
    }

    /** To {@code #alerts}. The webhook of a Slack app writes to its own channel, whatever is given here. */
    public static SlackChannel of(Endpoint webhook) {
        return new SlackChannel(webhook.checked(), "#alerts");
    }

    public SlackChannel channel(String channel) {
        if (channel.isBlank()) {
            throw new IllegalArgumentException("The Slack channel is empty. Give one, such as #alerts.");
        }
        return new SlackChannel(webhook, channel);
    }

    @Override
    public String name() {
        return "slack";
    }

    @Override
    public void tell(Alert alert) throws IOException {
        webhook.post(Json.of(message(alert)).getBytes(StandardCharsets.UTF_8), Map.of());
    }

    private Map<String, Object> message(Alert alert) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("channel", channel);
        message.put("text", alert.title() + ": " + escaped(alert.text()));
        List<Map<String, Object>> attachments = new ArrayList<>();
        alert.examples().forEach(each -> attachments.add(attachment(alert, each)));
        if (attachments.isEmpty()) {
            Map<String, Object> only = colored(alert);
            only.put("text", escaped(alert.text()));
            attachments.add(only);
        }
        message.put("attachments", attachments);
        return message;
    }

    private static Map<String, Object> attachment(Alert alert, DeadLetter letter) {
        String aggregate = letter.aggregateType().orElse("-")
                + letter.aggregateId().map(id -> " (" + id + ")").orElse("");
        Map<String, Object> attachment = colored(alert);
        attachment.put(
                "fields",
                List.of(
                        field("Event ID", letter.eventId().toString(), true),
                        field("Event Type", letter.type(), true),
                        field("Aggregate", aggregate, true),
                        field("Retry Count", String.valueOf(letter.attempts()), true),
                        field("Stream", letter.stream(), true),
                        field("Last Error", lastError(letter), false),
                        field("Action", "A manual check is needed", false)));
        return attachment;
    }

    private static Map<String, Object> colored(Alert alert) {
        Map<String, Object> attachment = new LinkedHashMap<>();
        attachment.put(
                "color",
                alert.state() == Alert.State.ENDED ? "good" : alert.kind().urgent() ? "danger" : "warning");
        attachment.put("title", alert.title());
        attachment.put("fallback", alert.title());
        attachment.put("mrkdwn_in", List.of());
        return attachment;
    }

    private static Map<String, Object> field(String title, String value, boolean isShort) {
        Map<String, Object> field = new LinkedHashMap<>();
        field.put("title", title);
        field.put("value", escaped(value));
        field.put("short", isShort);
        return field;
    }

    /** As long as people read it: the first 200 characters, none of them cut in two. */
    static String lastError(DeadLetter letter) {
        String error = letter.errorCode() + ": " + letter.errorMessage();
        return error.codePointCount(0, error.length()) <= ERROR_LENGTH
                ? error
                : error.substring(0, error.offsetByCodePoints(0, ERROR_LENGTH));
    }

    /** The three characters by which Slack knows links and mentions. */
    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    @Override
    public String toString() {
        return "Slack " + channel + " by " + webhook;
    }
}
