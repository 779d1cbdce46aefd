// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The ports of a broker: one for its controller, one that leads straight to it, and, where it advertises another address,
 * one more for what comes from there.
 */
record KafkaListeners(
        LoopbackPort controller,
        LoopbackPort direct,
        @Nullable LoopbackPort proxied,
        @Nullable String advertised) implements AutoCloseable {

    static KafkaListeners reserve(@Nullable String advertised) {
        return new KafkaListeners(
                LoopbackPort.reserve(),
                LoopbackPort.reserve(),
                advertised == null ? null : LoopbackPort.reserve(),
                advertised);
    }

    String directAddress() {
        return local(direct);
    }

    String advertisedAddress() {
        return advertised == null ? directAddress() : advertised;
    }

    int clientPort() {
        return proxied == null ? direct.number() : proxied.number();
    }

    Map<String, String> properties() {
        String listeners = "DIRECT://" + local(direct) + ",CONTROLLER://" + local(controller);
        String told = "DIRECT://" + local(direct);
        if (proxied != null) {
            listeners += ",PROXIED://" + local(proxied);
            told += ",PROXIED://" + advertised;
        }
        return Map.of(
                "listeners",
                listeners,
                "advertised.listeners",
                told,
                "listener.security.protocol.map",
                "DIRECT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name",
                "DIRECT",
                "controller.listener.names",
                "CONTROLLER",
                "controller.quorum.voters",
                "1@" + local(controller));
    }

    /** What makes a single broker start, fail and recover fast. */
    static Map<String, String> defaults() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("process.roles", "broker,controller");
        all.put("node.id", "1");
        all.put("num.partitions", "4");
        all.put("auto.create.topics.enable", "true");
        all.put("offsets.topic.replication.factor", "1");
        all.put("offsets.topic.num.partitions", "1");
        all.put("transaction.state.log.replication.factor", "1");
        all.put("transaction.state.log.min.isr", "1");
        all.put("transaction.state.log.num.partitions", "1");
        all.put("share.coordinator.state.topic.replication.factor", "1");
        all.put("share.coordinator.state.topic.min.isr", "1");
        all.put("share.coordinator.state.topic.num.partitions", "1");
        all.put("group.initial.rebalance.delay.ms", "0");
        all.put("log.cleaner.dedupe.buffer.size", "2097152");
        // With the defaults, a broker that was killed waits some ten seconds for its own old session to end.
        all.put("broker.session.timeout.ms", "2000");
        all.put("broker.heartbeat.interval.ms", "500");
        return all;
    }

    private static String local(LoopbackPort port) {
        return "127.0.0.1:" + port.number();
    }

    @Override
    public void close() {
        controller.close();
        direct.close();
        if (proxied != null) {
            proxied.close();
        }
    }
}
