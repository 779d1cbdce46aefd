// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.jdbc.StreamSettings.History;
import io.postrider.jdbc.StreamSettings.OnDead;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the starter; all have defaults.
 *
 * @param enabled Whether there is an outbox at all.
 * @param dataSource Name of the DataSource bean that the outbox is in; needed if there are several and none is primary.
 * @param maxPayload Largest payload of an event; the destination must take as much.
 * @param strictKeyOrder Whether transactions that append to the same key wait for each other until they have committed.
 * @param streams Settings of streams by their names; a name with dots goes in brackets.
 * @param workers Workers of this application by their names, which are those of their groups too.
 */
@ConfigurationProperties("postrider")
public record PostriderProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable String dataSource,
        @DefaultValue("900KB") DataSize maxPayload,
        @DefaultValue("false") boolean strictKeyOrder,
        @DefaultValue Tables schema,
        @DefaultValue RelayProperties relay,
        @DefaultValue Map<String, Stream> streams,
        @DefaultValue Map<String, Worker> workers,
        @DefaultValue Kafka kafka,
        @DefaultValue Metrics metrics,
        @DefaultValue Health health,
        @NestedConfigurationProperty @DefaultValue AppendProperties append,
        @NestedConfigurationProperty @DefaultValue HousekeepingProperties housekeeping) {

    /** What is done about the tables at start. */
    public enum Mode {
        /** Migrate a database on this machine, validate any other. */
        AUTO,
        /** Run what is missing. */
        MIGRATE,
        /** Fail if something is missing, and print it. */
        VALIDATE,
        /** Look at nothing. */
        NONE
    }

    /**
     * Where the tables are.
     *
     * @param mode What is done about the tables at start.
     * @param name Database schema of the tables; by default the first of the connection's search_path.
     */
    public record Tables(
            @DefaultValue("auto") Mode mode,
            @DefaultValue("") String name) {}

    /**
     * The relay in this application.
     *
     * @param enabled Whether this application delivers events; if not, a relay elsewhere must.
     * @param name Name of the relay in logs and tables; by default the application's name and the process id.
     * @param publishOnCommit Whether events are sent right after their commit, and not only found by looking at the table.
     * @param signals Whether commits are signalled to other processes, if postrider-postgres is there.
     * @param loops Threads that read and settle; each needs a connection.
     * @param ownConnections Whether relay and workers open connections besides the application's pool.
     * @param lease How long a silent relay keeps its share of the events.
     * @param idlePoll Longest time between two looks at the table.
     * @param stopTime How long a stop waits for answers of the destination.
     * @param keepHistory How long delivered events stay in the history, in whole days.
     */
    public record RelayProperties(
            @DefaultValue("true") boolean enabled,
            @Nullable String name,
            @DefaultValue("true") boolean publishOnCommit,
            @DefaultValue("true") boolean signals,
            @DefaultValue("1") int loops,
            @DefaultValue("true") boolean ownConnections,
            @DefaultValue("8s") Duration lease,
            @DefaultValue("500ms") Duration idlePoll,
            @DefaultValue("20s") Duration stopTime,
            @DefaultValue("7d") Duration keepHistory,
            @DefaultValue Retry retry) {}

    /**
     * What happens to events that fail by their own fault.
     *
     * @param first Delay after the first failed attempt; it doubles with each further one.
     * @param max Longest delay between two attempts.
     * @param attempts Attempts of an event before it is dead.
     */
    public record Retry(
            @DefaultValue("2s") Duration first,
            @DefaultValue("10m") Duration max,
            @DefaultValue("5") int attempts) {}

    /**
     * One stream.
     *
     * @param topic Kafka topic of the stream; by default its name.
     * @param onDead What a dead event means for those behind it; by default hold-key.
     * @param history What is kept of delivered events; by default keep.
     */
    public record Stream(
            @Nullable String topic,
            @Nullable OnDead onDead,
            @Nullable History history) {}

    /** In which order a worker takes events. */
    public enum WorkerMode {
        /** Those of one key one after the other. */
        ORDERED,
        /** In no order: a work queue. */
        COMPETING
    }

    /**
     * What feeds the handlers of some streams.
     *
     * @param streams Streams of the worker; no other worker and no other group may have them.
     * @param mode In which order events are taken.
     * @param concurrency How many handlers run at once.
     * @param timeout How long a handler may run.
     * @param lease How long a silent worker keeps what it has taken.
     * @param attempts Attempts of an event before it is dead.
     */
    public record Worker(
            @DefaultValue List<String> streams,
            @DefaultValue("ordered") WorkerMode mode,
            @DefaultValue("16") int concurrency,
            @DefaultValue("30s") Duration timeout,
            @DefaultValue("8s") Duration lease,
            @DefaultValue("10") int attempts) {}

    /** What Kafka's records look like. */
    public enum Format {
        /** The payload, byte for byte; everything else is in headers. */
        RAW,
        /** A JSON document around the payload. */
        ENVELOPE,
        /** CloudEvents in binary mode: the payload, byte for byte, and attributes as headers. */
        CLOUD_EVENTS,
        /** CloudEvents in structured mode: a JSON document around the payload. */
        CLOUD_EVENTS_STRUCTURED
    }

    /**
     * How events are sent to Kafka.
     *
     * @param bootstrapServers Brokers; by default those of spring.kafka.
     * @param sendTimeout After how long without an answer a send is in doubt.
     * @param deadLetterTopic Topic that gets a copy of every dead event.
     * @param format What records look like.
     * @param cloudEventsSource Source of CloudEvents, a URI reference; by default a slash and the application's name.
     * @param properties Settings of Kafka's producer; they go before what is taken from spring.kafka.
     */
    public record Kafka(
            @Nullable String bootstrapServers,
            @DefaultValue("30s") Duration sendTimeout,
            @Nullable String deadLetterTopic,
            @DefaultValue("raw") Format format,
            @Nullable String cloudEventsSource,
            @DefaultValue Map<String, String> properties) {

        /** Without the values of settings, some of which are secrets. */
        @Override
        public String toString() {
            return "Kafka[bootstrapServers=" + bootstrapServers + ", sendTimeout=" + sendTimeout + ", deadLetterTopic="
                    + deadLetterTopic + ", format=" + format + ", cloudEventsSource=" + cloudEventsSource
                    + ", properties=" + properties.keySet() + "]";
        }
    }

    /**
     * What is measured.
     *
     * @param prefix What the names of all meters begin with.
     * @param refresh How often the table is asked for what is pending and dead.
     * @param maxStreams How many streams get a tag of their own; the rest share one.
     */
    public record Metrics(
            @DefaultValue("outbox") String prefix,
            @DefaultValue("15s") Duration refresh,
            @DefaultValue("100") int maxStreams) {}

    /**
     * What makes the outbox unhealthy.
     *
     * @param maxCycleAge How long ago the relay may have looked after its events last, and how long events may wait while
     *     no relay serves their stream.
     * @param maxDead How many dead events a stream may have.
     * @param maxHeldKeys How many keys of a stream may be held by an event that failed.
     */
    public record Health(
            @DefaultValue("15s") Duration maxCycleAge,
            @DefaultValue("100") long maxDead,
            @DefaultValue("100") long maxHeldKeys) {

        public Health {
            if (maxCycleAge.isNegative() || maxCycleAge.isZero() || maxDead < 0 || maxHeldKeys < 0) {
                throw new IllegalArgumentException("postrider.health has max-cycle-age " + maxCycleAge + ", max-dead "
                        + maxDead + " and max-held-keys " + maxHeldKeys
                        + ". The age must be more than zero, the counts zero or more.");
            }
        }
    }
}
