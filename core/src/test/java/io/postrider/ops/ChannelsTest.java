// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.internal.JsonReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What arrives at a real server, byte for byte. */
class ChannelsTest {
    private static final UUID ID = UUID.fromString("0190a8f0-0000-7000-8000-000000000001");
    private static final Instant AT = Instant.parse("2025-03-01T10:15:30Z");
    private static final String SECRET = "0123456789abcdef";

    private Receiver receiver;

    @BeforeEach
    void start() throws IOException {
        receiver = Receiver.start();
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    @Test
    void slackIsToldOfADeadLetter() throws IOException {
        SlackChannel.of(receiver.endpoint("/services/T1/B2/s3cret")).tell(dead("BROKEN", "no \"schema\" <!channel>\n"));
        assertThat(receiver.posted).hasSize(1);
        assertThat(receiver.posted.get(0).path()).isEqualTo("/services/T1/B2/s3cret");
        assertThat(receiver.posted.get(0).headers().getFirst("Content-Type"))
                .isEqualTo("application/json; charset=utf-8");
        assertThat(receiver.posted.get(0).body())
                .isEqualTo(
                        "{\"channel\": \"#alerts\", \"text\": \"Event Dead Letter Alert: 10000 dead in stream orders\","
                                + " \"attachments\": [{\"color\": \"danger\", \"title\": \"Event Dead Letter Alert\","
                                + " \"fallback\": \"Event Dead Letter Alert\", \"mrkdwn_in\": [], \"fields\": ["
                                + "{\"title\": \"Event ID\", \"value\": \"" + ID + "\", \"short\": true},"
                                + " {\"title\": \"Event Type\", \"value\": \"OrderPlaced\", \"short\": true},"
                                + " {\"title\": \"Aggregate\", \"value\": \"Order (42)\", \"short\": true},"
                                + " {\"title\": \"Retry Count\", \"value\": \"5\", \"short\": true},"
                                + " {\"title\": \"Stream\", \"value\": \"orders\", \"short\": true},"
                                + " {\"title\": \"Last Error\", \"value\":"
                                + " \"BROKEN: no \\\"schema\\\" &lt;!channel&gt;\\u000a\", \"short\": false},"
                                + " {\"title\": \"Action\", \"value\": \"A manual check is needed\", \"short\": false}]}]}");
    }

    @Test
    void theChannelOfSlackIsASetting() throws IOException {
        SlackChannel.of(receiver.endpoint("/x")).channel("#oncall").tell(over());
        assertThat(object(receiver.posted.get(0).body()).get("channel")).isEqualTo("#oncall");
        assertThat(receiver.posted.get(0).body()).contains("\"good\"", "Event Dead Letter Alert (over)");
    }

    @Test
    void ofALongErrorTheFirst200CharactersAreShownAndNoneIsCutInTwo() throws IOException {
        SlackChannel.of(receiver.endpoint("/x")).tell(dead("E", "\uD83D\uDE00".repeat(300)));
        String shown = SlackChannel.lastError(
                dead("E", "\uD83D\uDE00".repeat(300)).examples().get(0));
        assertThat(shown.codePointCount(0, shown.length())).isEqualTo(200);
        assertThat(shown).isEqualTo("E: " + "\uD83D\uDE00".repeat(197));
        assertThat(object(receiver.posted.get(0).body()).toString()).contains(shown + ",");
    }

    @Test
    void aWebhookGetsASignedDocument() throws Exception {
        new WebhookChannel(receiver.endpoint("/hook?a=b"), SECRET, () -> AT).tell(dead("BROKEN", "no schema"));
        Receiver.Posted posted = receiver.posted.get(0);
        assertThat(posted.path()).isEqualTo("/hook?a=b");
        assertThat(posted.body())
                .isEqualTo("{\"version\": 1, \"condition\": \"dead-letters\", \"state\": \"raised\", \"urgent\": true,"
                        + " \"at\": \"2025-03-01T10:15:30Z\", \"title\": \"Event Dead Letter Alert\","
                        + " \"text\": \"10000 dead in stream orders\", \"subjectCount\": 1, \"subjects\":"
                        + " [{\"name\": \"orders\", \"value\": 10000, \"text\": \"10000 dead in stream orders\"}],"
                        + " \"examples\": [{\"eventId\": \"" + ID + "\", \"stream\": \"orders\", \"key\": \"k\","
                        + " \"type\": \"OrderPlaced\", \"aggregateType\": \"Order\", \"aggregateId\": \"42\","
                        + " \"attempts\": 5, \"error\": \"BROKEN: no schema\"}]}");
        assertThat(posted.headers().getFirst("Postrider-Timestamp")).isEqualTo("1740824130");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] expected = mac.doFinal(("1740824130." + posted.body()).getBytes(StandardCharsets.UTF_8));
        assertThat(posted.headers().getFirst("Postrider-Signature"))
                .isEqualTo("v1=" + HexFormat.of().formatHex(expected));
    }

    @Test
    void neitherTheUrlNorTheSecretIsShown() {
        Endpoint endpoint = receiver.endpoint("/services/s3cret?token=s3cret");
        assertThat(SlackChannel.of(endpoint).toString() + WebhookChannel.of(endpoint, SECRET))
                .doesNotContain("s3cret", SECRET)
                .contains("http://127.0.0.1:" + receiver.port() + "/…");
        assertThatThrownBy(() -> WebhookChannel.of(endpoint, "s3cret"))
                .hasMessageEndingWith("has 6 bytes. Give 16 or more, at random.")
                .message()
                .doesNotContain("s3cret");
        receiver.answer(403);
        assertThatThrownBy(() -> SlackChannel.of(endpoint).tell(over()))
                .hasMessage("http://127.0.0.1:" + receiver.port() + "/… answered 403");
    }

    @Test
    void manyStreamsAreOneLine() {
        List<Alert.Subject> subjects = IntStream.range(0, 100)
                .mapToObj(n -> new Alert.Subject("s" + n, 1, "s" + n))
                .toList();
        Alert alert = new Alert(AlertKind.PENDING, Alert.State.REMINDER, AT, subjects, 1000, List.of());
        assertThat(alert.text()).isEqualTo("s0; s1; s2; s3; s4; s5; s6; s7; s8; s9; and 990 more");
        assertThat(alert.title()).isEqualTo("Event Backlog Alert (reminder)");
    }

    private static Alert dead(String code, String message) {
        DeadLetter letter = new DeadLetter(
                7,
                ID,
                1,
                "orders",
                Optional.of("k"),
                "OrderPlaced",
                Optional.of("Order"),
                Optional.of("42"),
                true,
                5,
                code,
                message,
                AT,
                Optional.of(AT));
        List<Alert.Subject> subjects = List.of(new Alert.Subject("orders", 10_000, "10000 dead in stream orders"));
        return new Alert(AlertKind.DEAD_LETTERS, Alert.State.RAISED, AT, subjects, 1, List.of(letter));
    }

    private static Alert over() {
        List<Alert.Subject> subjects = List.of(new Alert.Subject("orders", 0, "Stream orders has no dead letters"));
        return new Alert(AlertKind.DEAD_LETTERS, Alert.State.ENDED, AT, subjects, 1, List.of());
    }

    private static Map<?, ?> object(String json) {
        return (Map<?, ?>) Objects.requireNonNull(JsonReader.read(json));
    }
}
