// SPDX-License-Identifier: Apache-2.0
package io.postrider.lambda;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Relay;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * An AWS Lambda function for a schedule: delivers to Kafka what is in the outbox and no running relay owns, and ends.
 *
 * <p>Runs may overlap, and may be ended at any time: what one has taken, no other takes, until it ends or its lease does.
 * Between two runs nothing is left that a frozen process could miss: no thread, no connection, no ownership.
 */
public final class DrainFunction implements RequestHandler<Map<String, Object>, DrainFunction.Report> {
    /** What is under way when no more is taken must be answered and recorded before the function is ended. */
    private static final Duration TO_FINISH = Duration.ofSeconds(5);

    private final DataSource database;
    private final Map<String, String> kafka;

    /** As Lambda makes it: everything comes from the environment. */
    public DrainFunction() {
        this(System.getenv());
    }

    DrainFunction(Map<String, String> environment) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(required(environment, "POSTRIDER_URL"));
        if (environment.containsKey("POSTRIDER_USER")) {
            source.setUser(environment.get("POSTRIDER_USER"));
            source.setPassword(environment.get("POSTRIDER_PASSWORD"));
        }
        source.setConnectTimeout(10);
        source.setSocketTimeout(30);
        this.database = source;
        this.kafka = Map.of("bootstrap.servers", required(environment, "KAFKA_BOOTSTRAP_SERVERS"));
    }

    /**
     * What the function answers.
     *
     * @param complete whether nothing was left that it could take
     */
    public record Report(long delivered, long retrying, long dead, boolean complete) {}

    /** @param request may name a {@code stream}; without one all are drained */
    @Override
    public Report handleRequest(Map<String, Object> request, Context context) {
        Duration left = Duration.ofMillis(context.getRemainingTimeInMillis());
        OrderedFeed.Builder feed = OrderedFeed.builder(database);
        if (request.get("stream") instanceof String stream) {
            feed.onlyStream(stream);
        }
        Relay relay = Relay.from(feed.build())
                .to(KafkaPublisher.create(kafka))
                .name("lambda-" + context.getAwsRequestId())
                .stopTime(TO_FINISH.dividedBy(2))
                .build();
        DrainResult result = relay.drain(Long.MAX_VALUE, left.minus(TO_FINISH));
        return new Report(result.published(), result.retrying(), result.dead(), result.foundNothingMore());
    }

    private static String required(Map<String, String> environment, String name) {
        @Nullable String value = environment.get(name);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(
                    "The environment variable " + name + " is missing. Set it in the function's configuration.");
        }
        return value;
    }
}
