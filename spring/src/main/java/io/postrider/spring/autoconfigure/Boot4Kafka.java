// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.Optional;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;

/** Connection details as Spring Boot 4 gives them. */
record Boot4Kafka(ListableBeanFactory beans) implements KafkaPlace {

    @Override
    public Optional<Details> details() {
        KafkaConnectionDetails found =
                beans.getBeanProvider(KafkaConnectionDetails.class).getIfAvailable();
        // Those that Spring Boot makes of the settings have a default for what nobody has set.
        if (found == null || found.getClass().getSimpleName().equals("PropertiesKafkaConnectionDetails")) {
            return Optional.empty();
        }
        KafkaConnectionDetails.Configuration producer = found.getProducer();
        return Optional.of(new Details(
                producer.getBootstrapServers(), producer.getSecurityProtocol(), producer.getSslBundle() != null));
    }
}
