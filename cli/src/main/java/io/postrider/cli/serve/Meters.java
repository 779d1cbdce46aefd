// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.postrider.cli.config.DatabaseConfig;
import io.postrider.cli.config.ServeConfig;
import io.postrider.micrometer.BacklogGauges;
import io.postrider.micrometer.RelayMeters;
import io.postrider.micrometer.StreamTags;
import io.postrider.ops.Backlog;
import io.postrider.relay.RelayListener;
import io.postrider.server.Request;
import io.postrider.server.Response;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.sql.DataSource;

/** What is measured, as Prometheus reads it: the starter's meters, with the database as one more tag. Thread-safe. */
final class Meters {
    private static final String DATABASE = "database";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ServeConfig.Metrics settings;

    Meters(ServeConfig.Metrics settings) {
        this.settings = settings;
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
    }

    /** The meters of one database. */
    record Of(RelayListener relays, BacklogGauges gauges) {}

    MeterRegistry registry() {
        return registry;
    }

    Of database(String name, DataSource source, DatabaseConfig config) {
        StreamTags tags = new StreamTags(settings.maxStreams(), Tags.of(DATABASE, name));
        Backlog backlog = Backlog.of(source, config.tables());
        return new Of(
                new RelayMeters(registry, settings.prefix(), tags),
                new BacklogGauges(backlog, registry, settings.prefix(), settings.refresh(), tags));
    }

    void watch(String name, ServedDatabase database) {
        Gauge.builder(
                        settings.prefix() + ".database.up",
                        database,
                        each -> each.trouble().isEmpty() ? 1 : 0)
                .description("Whether the database is reached and served")
                .tag(DATABASE, name)
                .register(registry);
    }

    Response scrape(Request request) {
        return new Response(
                200,
                Map.of("content-type", "text/plain; version=0.0.4; charset=utf-8", "cache-control", "no-store"),
                registry.scrape().getBytes(StandardCharsets.UTF_8));
    }
}
