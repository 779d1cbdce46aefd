// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.spring.EventWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;
import org.springframework.beans.BeanInstantiationException;
import org.springframework.beans.BeanUtils;

/**
 * Writes payloads with a Serializer of Kafka, at the append and not when they are sent: so what cannot be written fails the
 * transaction, and the relay need not know the classes. Thread-safe, as Kafka asks it of serializers.
 */
final class SerializerWriter implements EventWriter, AutoCloseable {
    private final Serializer<Object> serializer;
    private final String contentType;
    private final Map<String, PostriderProperties.Stream> streams;

    private SerializerWriter(Serializer<Object> serializer, PostriderProperties properties) {
        this.serializer = serializer;
        this.contentType = properties.append().contentType();
        this.streams = properties.streams();
    }

    /** @param settings what the serializer is configured with, besides the settings of its own */
    @SuppressWarnings("unchecked") // what it cannot write it refuses, object by object
    static SerializerWriter of(Class<?> type, PostriderProperties properties, Map<String, Object> settings) {
        Map<String, Object> all = new LinkedHashMap<>(settings);
        all.putAll(properties.append().properties());
        try {
            if (!(BeanUtils.instantiateClass(type) instanceof Serializer<?> made)) {
                throw new IllegalArgumentException("it is no " + Serializer.class.getName());
            }
            made.configure(all, false);
            return new SerializerWriter((Serializer<Object>) made, properties);
        } catch (BeanInstantiationException | IllegalArgumentException | org.apache.kafka.common.KafkaException e) {
            throw new SetupException(
                    "postrider.append.value-serializer is " + type.getName() + ", which cannot be used: "
                            + e.getMessage(),
                    "Name a Serializer with a constructor without parameters, and give it what it needs under"
                            + " postrider.append.properties.",
                    e);
        }
    }

    @Override
    public OutboxEvent.Builder event(String stream, String type, Object body) {
        RecordHeaders headers = new RecordHeaders();
        byte[] payload;
        try {
            payload = serializer.serialize(topic(stream), headers, body);
        } catch (RuntimeException e) {
            throw new OutboxException(
                    "An object of " + body.getClass().getName() + " cannot be written by "
                            + serializer.getClass().getName() + " (event " + type + ", stream " + stream + "): "
                            + e.getMessage() + ". Nothing was appended.",
                    e);
        }
        OutboxEvent.Builder event = OutboxEvent.of(stream, type);
        for (Header header : headers) {
            event.header(header.key(), text(header, stream));
        }
        return payload == null ? event : event.payload(payload, contentType);
    }

    /** By which the serializer may look for a schema. */
    private String topic(String stream) {
        PostriderProperties.Stream given = streams.get(stream);
        String topic = given == null ? null : given.topic();
        return topic == null ? stream : topic;
    }

    private String text(Header header, String stream) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(header.value()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new OutboxException(
                    "The header " + header.key() + " that "
                            + serializer.getClass().getName()
                            + " adds (stream " + stream + ") is no text, and headers of events are. Have the serializer"
                            + " put it into the payload.",
                    e);
        }
    }

    @Override
    public void close() {
        serializer.close();
    }
}
