// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import static io.postrider.kafka.Topics.await;
import static io.postrider.kafka.Topics.readOnly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.cloudevents.CloudEvent;
import io.cloudevents.SpecVersion;
import io.cloudevents.core.message.Encoding;
import io.cloudevents.core.message.MessageReader;
import io.cloudevents.jackson.JsonCloudEventData;
import io.cloudevents.kafka.CloudEventDeserializer;
import io.cloudevents.kafka.KafkaMessageFactory;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.testkit.KafkaServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Read with the official SDK. */
class CloudEventsTest {
    private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
    private static final MessageFormat BINARY = MessageFormat.cloudEvents("https://example.org/orders?a=b");
    private static final MessageFormat STRUCTURED = MessageFormat.cloudEventsStructured("/orders");

    @Test
    void binary_mode_has_the_payload_as_it_is_and_the_attributes_as_headers() {
        String json = "{ \"total\": 1.50 }";
        ProducerRecord<byte[], byte[]> record =
                record(BINARY, event().aggregate("Order", 42).json(json).build());

        assertThat(record.value()).isEqualTo(utf8(json));
        assertThat(texts(record.headers()))
                .containsEntry("ce_specversion", "1.0")
                .containsEntry("ce_id", ID.toString())
                .containsEntry("ce_source", "https://example.org/orders?a=b")
                .containsEntry("ce_type", "OrderPlaced")
                .containsEntry("ce_subject", "42")
                .containsEntry("ce_time", "2026-03-01T10:15:30.123456Z")
                .containsEntry("content-type", "application/json")
                .containsEntry("postrider-event-id", ID.toString())
                .doesNotContainKey("ce_datacontenttype");
        CloudEvent read = read(record, Encoding.BINARY);
        assertAttributes(read, "https://example.org/orders?a=b", "42");
        assertThat(read.getDataContentType()).isEqualTo("application/json");
        assertThat(read.getData().toBytes()).isEqualTo(utf8(json));
    }

    @Test
    void structured_mode_has_it_all_in_one_document() {
        ProducerRecord<byte[], byte[]> record = record(
                STRUCTURED,
                event().aggregate("Order", 42).json("{\"total\": 1.50}").build());

        assertThat(new String(record.value(), StandardCharsets.UTF_8))
                .isEqualTo("{\"specversion\":\"1.0\",\"id\":\"01890a5d-ac96-774b-bcce-b302099a8057\","
                        + "\"source\":\"/orders\",\"type\":\"OrderPlaced\",\"subject\":\"42\","
                        + "\"time\":\"2026-03-01T10:15:30.123456Z\",\"datacontenttype\":\"application/json\","
                        + "\"data\":{\"total\": 1.50}}");
        assertThat(texts(record.headers())).containsEntry("content-type", "application/cloudevents+json");
        CloudEvent read = read(record, Encoding.STRUCTURED);
        assertAttributes(read, "/orders", "42");
        assertThat(((JsonCloudEventData) read.getData()).getNode().get("total").asDouble())
                .isEqualTo(1.5);
    }

    @Test
    void another_payload_is_base64_in_structured_mode() {
        byte[] bytes = {0, 1, (byte) 0xff, '"', '\\'};
        CloudEvent read = read(
                record(STRUCTURED, event().payload(bytes, "application/avro").build()), Encoding.STRUCTURED);

        assertThat(read.getDataContentType()).isEqualTo("application/avro");
        assertThat(read.getData().toBytes()).isEqualTo(bytes);
    }

    @Test
    void a_payload_that_only_claims_to_be_json_forges_nothing() {
        byte[] broken = utf8("1,\"id\":\"forged\"");
        CloudEvent read = read(
                record(STRUCTURED, event().payload(broken, "application/json").build()), Encoding.STRUCTURED);

        assertThat(read.getId()).isEqualTo(ID.toString());
        assertThat(read.getData().toBytes()).isEqualTo(broken);
    }

    @Test
    void hostile_text_comes_back_as_it_was() {
        String hostile = "\",\"id\":\"forged \\ \u2028 \ud83d\ude80 äöü";
        OutboxEvent event =
                OutboxEvent.of("orders", hostile).id(ID).key(hostile).json("1").buildStored();

        for (MessageFormat format : new MessageFormat[] {BINARY, STRUCTURED}) {
            CloudEvent read = read(record(format, event), format == BINARY ? Encoding.BINARY : Encoding.STRUCTURED);
            assertThat(read.getId()).isEqualTo(ID.toString());
            assertThat(read.getType()).isEqualTo(hostile);
            assertThat(read.getSubject()).isEqualTo(hostile);
        }
    }

    @Test
    void the_subject_is_the_key_where_there_is_no_aggregate_and_missing_where_there_is_none() {
        assertThat(read(record(BINARY, event().key("k").json("1").build()), Encoding.BINARY)
                        .getSubject())
                .isEqualTo("k");
        assertThat(texts(record(BINARY, event().json("1").build()).headers())).doesNotContainKey("ce_subject");
        assertThat(texts(record(BINARY, event().key("").json("1").buildStored()).headers()))
                .doesNotContainKey("ce_subject");
    }

    @Test
    void a_tombstone_is_binary_in_both_modes() {
        OutboxEvent tombstone = event().key("k").tombstone().build();

        for (MessageFormat format : new MessageFormat[] {BINARY, STRUCTURED}) {
            ProducerRecord<byte[], byte[]> record = record(format, tombstone);
            assertThat(record.value()).isNull();
            CloudEvent read = read(record, Encoding.BINARY);
            assertThat(read.getId()).isEqualTo(ID.toString());
            assertThat(read.getData()).isNull();
        }
    }

    @Test
    void an_events_own_headers_are_extensions_and_change_no_attribute() {
        OutboxEvent event = event().header("ce_id", "forged")
                .header("content-type", "text/forged")
                .header("ce_tenant", "north")
                .header("traceparent", "00-1-2-03")
                .json("1")
                .build();

        CloudEvent read = read(record(BINARY, event), Encoding.BINARY);

        assertThat(read.getId()).isEqualTo(ID.toString());
        assertThat(read.getDataContentType()).isEqualTo("application/json");
        assertThat(read.getExtension("tenant")).isEqualTo("north");
        assertThat(texts(record(STRUCTURED, event).headers()))
                .containsEntry("content-type", "application/cloudevents+json")
                .containsEntry("traceparent", "00-1-2-03");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "two words", "http://[", "%"})
    void a_source_that_is_no_uri_is_refused(String source) {
        assertThatThrownBy(() -> MessageFormat.cloudEvents(source))
                .isInstanceOf(OutboxException.class)
                .hasMessage(
                        "source=" + source + " was given, but a CloudEvent's source is a URI reference: give one such"
                                + " as /orders or https://example.org/orders.");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_consumer_of_the_sdk_reads_them_from_kafka(boolean structured) {
        KafkaServer kafka = SharedBroker.KAFKA;
        String topic = "cloud-" + structured;
        kafka.createTopic(topic, 1);

        try (KafkaPublisher publisher = KafkaPublisher.builder(Topics.settings(kafka))
                .format(structured ? STRUCTURED : MessageFormat.cloudEvents("/orders"))
                .topic("orders", topic)
                .build()) {
            assertThat(publisher.toString()).contains("CloudEvents of /orders");
            await(publisher.publish(event().aggregate("Order", 42).json("[1]").build()));
        }

        ConsumerRecord<byte[], byte[]> record = readOnly(kafka, topic);
        try (CloudEventDeserializer deserializer = new CloudEventDeserializer()) {
            CloudEvent read = deserializer.deserialize(topic, record.headers(), record.value());
            assertAttributes(read, "/orders", "42");
            assertThat(read.getData().toBytes()).isEqualTo(utf8("[1]"));
        }
    }

    private static void assertAttributes(CloudEvent read, String source, String subject) {
        assertThat(read.getSpecVersion()).isEqualTo(SpecVersion.V1);
        assertThat(read.getId()).isEqualTo(ID.toString());
        assertThat(read.getSource()).isEqualTo(URI.create(source));
        assertThat(read.getType()).isEqualTo("OrderPlaced");
        assertThat(read.getSubject()).isEqualTo(subject);
        assertThat(read.getTime()).isEqualTo(OffsetDateTime.parse("2026-03-01T10:15:30.123456Z"));
        assertThat(read.getDataContentType()).isEqualTo("application/json");
    }

    private static CloudEvent read(ProducerRecord<byte[], byte[]> record, Encoding expected) {
        MessageReader reader = KafkaMessageFactory.createReader(record.headers(), record.value());
        assertThat(reader.getEncoding()).isEqualTo(expected);
        return reader.toEvent();
    }

    private static ProducerRecord<byte[], byte[]> record(MessageFormat format, OutboxEvent event) {
        return new Records(Map.of(), OutboxEvent::stream, format).of(event);
    }

    private static Map<String, String> texts(Headers headers) {
        Map<String, String> all = new LinkedHashMap<>();
        headers.forEach(header -> assertThat(all.put(header.key(), new String(header.value(), StandardCharsets.UTF_8)))
                .as("header %s twice", header.key())
                .isNull());
        return all;
    }

    private static OutboxEvent.Builder event() {
        return OutboxEvent.of("orders", "OrderPlaced")
                .id(ID)
                .occurredAt(Instant.parse("2026-03-01T10:15:30.123456789Z"));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
