// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

/** Part of a real producer that can keep it from being opened, as a name server can that is down. */
public final class MoodyReporter implements MetricsReporter {
    static final AtomicBoolean REFUSES = new AtomicBoolean();

    @Override
    public void configure(Map<String, ?> configs) {
        if (REFUSES.get()) {
            throw new ConfigException("not today");
        }
    }

    @Override
    public void init(List<KafkaMetric> metrics) {}

    @Override
    public void metricChange(KafkaMetric metric) {}

    @Override
    public void metricRemoval(KafkaMetric metric) {}

    @Override
    public void close() {}
}
