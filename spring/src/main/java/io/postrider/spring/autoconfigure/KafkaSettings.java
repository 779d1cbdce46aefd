// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * How Kafka is reached, taken from {@code spring.kafka.*} by name: the classes behind those settings differ between
 * Spring Boot 3 and 4. Only addresses and security are taken; how the application's own producers produce is their
 * affair.
 */
final class KafkaSettings {
    private static final List<String> TAKEN =
            List.of("security.", "sasl.", "ssl.", "client.dns.lookup", "socket.connection.", "reconnect.");

    /** spring.kafka.ssl.*, and what Kafka calls it. */
    private static final Map<String, String> SSL = Map.of(
            "key-password", "ssl.key.password",
            "key-store-certificate-chain", "ssl.keystore.certificate.chain",
            "key-store-key", "ssl.keystore.key",
            "key-store-password", "ssl.keystore.password",
            "key-store-type", "ssl.keystore.type",
            "trust-store-certificates", "ssl.truststore.certificates",
            "trust-store-password", "ssl.truststore.password",
            "trust-store-type", "ssl.truststore.type",
            "protocol", "ssl.protocol");

    private static final Map<String, String> SSL_FILES = Map.of(
            "key-store-location", "ssl.keystore.location",
            "trust-store-location", "ssl.truststore.location");

    private final Binder binder;
    private final ResourceLoader resources;

    KafkaSettings(Environment environment, ResourceLoader resources) {
        this.binder = Binder.get(environment);
        this.resources = resources;
    }

    /** The settings of a producer; without {@code bootstrap.servers} if none are known. */
    Map<String, Object> read(PostriderProperties.Kafka own) {
        Map<String, Object> all = new LinkedHashMap<>();
        // What is said of producers goes before what is said of all clients.
        for (String prefix : List.of("spring.kafka", "spring.kafka.producer")) {
            binder.bind(prefix + ".bootstrap-servers", Bindable.listOf(String.class))
                    .ifBound(servers -> all.put("bootstrap.servers", String.join(",", servers)));
            properties(prefix, all);
            text(prefix + ".security.protocol", "security.protocol", all);
            ssl(prefix + ".ssl.", all);
        }
        if (own.bootstrapServers() != null) {
            all.put("bootstrap.servers", own.bootstrapServers());
        }
        all.putAll(own.properties());
        return all;
    }

    /** The settings of a serializer, which may look for any of them: also what producers are not given. */
    Map<String, Object> ofSerializers(PostriderProperties.Kafka own) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (String prefix : List.of("spring.kafka", "spring.kafka.producer")) {
            binder.bind(prefix + ".properties", Bindable.mapOf(String.class, String.class))
                    .ifBound(all::putAll);
        }
        all.putAll(read(own));
        return all;
    }

    private void properties(String prefix, Map<String, Object> all) {
        binder.bind(prefix + ".properties", Bindable.mapOf(String.class, String.class))
                .ifBound(given -> given.forEach((name, value) -> {
                    if (TAKEN.stream().anyMatch(name::startsWith)) {
                        all.put(name, value);
                    }
                }));
    }

    private void ssl(String prefix, Map<String, Object> all) {
        if (binder.bind(prefix + "bundle", String.class).isBound()) {
            throw new SetupException(
                    prefix + "bundle is set, and SSL bundles are not read by the outbox.",
                    "Set the key store and the trust store with " + prefix + "key-store-location and " + prefix
                            + "trust-store-location, or with ssl.* in postrider.kafka.properties.");
        }
        SSL.forEach((name, kafka) -> text(prefix + name, kafka, all));
        SSL_FILES.forEach((name, kafka) ->
                binder.bind(prefix + name, String.class).ifBound(place -> all.put(kafka, file(prefix + name, place))));
    }

    private String file(String name, String place) {
        Resource resource = resources.getResource(place);
        try {
            return resource.getFile().getAbsolutePath();
        } catch (IOException e) {
            throw new SetupException(
                    name + "=" + place + " is no file, and Kafka reads files only.",
                    "Give the path of a file, such as file:/etc/keys/kafka.p12.",
                    e);
        }
    }

    private void text(String name, String kafka, Map<String, Object> all) {
        binder.bind(name, String.class).ifBound(value -> all.put(kafka, value));
    }
}
