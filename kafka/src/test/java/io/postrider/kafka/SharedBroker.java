// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import io.postrider.testkit.KafkaServer;

/** One broker for the tests that do not disturb it; it creates no topic by itself and ends with this JVM. */
final class SharedBroker {
    static final KafkaServer KAFKA =
            KafkaServer.builder().autoCreateTopics(false).start();

    private SharedBroker() {}
}
