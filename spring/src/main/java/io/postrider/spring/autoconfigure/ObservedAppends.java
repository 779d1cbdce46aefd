// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.postrider.OutboxEvent;
import io.postrider.micrometer.StreamNames;
import io.postrider.spring.AppendObserver;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * An observation around each append; events carry its span along.
 *
 * @param names of streams that become names of spans and tags of timers
 */
record ObservedAppends(Supplier<@Nullable ObservationRegistry> registry, StreamNames names) implements AppendObserver {
    private static final String SEVERAL = "several";

    @Override
    public void around(Collection<OutboxEvent> events, Runnable append) {
        ObservationRegistry found = registry.get();
        if (found == null || found.isNoop() || isTracedByOthers(found)) {
            append.run();
            return;
        }
        OutboxEvent first = events.iterator().next();
        boolean oneStream = events.stream().allMatch(each -> each.stream().equals(first.stream()));
        boolean oneType = events.stream().allMatch(each -> each.type().equals(first.type()));
        String stream = oneStream ? names.of(first.stream()) : SEVERAL;
        Observation observation = Observation.createNotStarted("postrider.append", found)
                .contextualName("append " + stream)
                .lowCardinalityKeyValue("stream", stream)
                .highCardinalityKeyValue("type", oneType ? first.type() : SEVERAL)
                .start();
        String outcome = "failed";
        try {
            observation.scoped(append);
            outcome = "appended";
        } finally {
            observation.lowCardinalityKeyValue("outcome", outcome).stop();
        }
    }

    /** A trace that only the log lines know goes on as it is: a span of our own would begin another. */
    private static boolean isTracedByOthers(ObservationRegistry found) {
        return found.getCurrentObservation() == null && MDC.get(MdcContext.TRACEPARENT) != null;
    }
}
