// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxEvent;
import io.postrider.handler.Handlers;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** Log lines of handlers say which event they are about; here, where a logger has an MDC. */
class HandlerContextTest {
    @Test
    void whileAHandlerRunsTheMdcSaysForWhat() throws Exception {
        ExecutorService one = Executors.newSingleThreadExecutor();
        AtomicReference<Map<String, String>> during = new AtomicReference<>();
        OutboxEvent event = OutboxEvent.of("orders", "Placed")
                .aggregate("Order", "7")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .build();
        try (Handlers handlers = Handlers.builder()
                .executor(one)
                .on("orders", "Placed")
                .run(each -> during.set(MDC.getCopyOfContextMap()))
                .build()) {
            handlers.publish(event).toCompletableFuture().get(20, TimeUnit.SECONDS);
            assertThat(during.get())
                    .containsOnly(
                            Map.entry("eventId", event.id().toString()),
                            Map.entry("stream", "orders"),
                            Map.entry("eventType", "Placed"),
                            Map.entry("aggregateType", "Order"),
                            Map.entry("aggregateId", "7"),
                            Map.entry("attempt", "1"),
                            Map.entry("traceId", "0af7651916cd43dd8448eb211c80319c"));
            assertThat(one.submit(MDC::getCopyOfContextMap).get()).isNullOrEmpty();
        } finally {
            one.shutdown();
        }
    }
}
