// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where Kafka is, if the application was told so by connection details instead of settings: a container, for example. */
interface KafkaPlace {
    /** Empty if the details only repeat the settings. */
    Optional<Details> details();

    /** What is told. */
    record Details(List<String> servers, @Nullable String securityProtocol, boolean hasSslBundle) {

        void addTo(Map<String, Object> settings) {
            if (hasSslBundle) {
                throw new SetupException(
                        "The connection details of Kafka have an SSL bundle, and SSL bundles are not read by the"
                                + " outbox.",
                        "Give the key store and the trust store with ssl.* in postrider.kafka.properties.");
            }
            settings.put("bootstrap.servers", String.join(",", servers));
            if (securityProtocol != null) {
                settings.put("security.protocol", securityProtocol);
            }
        }
    }
}
