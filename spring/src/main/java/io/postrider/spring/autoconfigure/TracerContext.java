// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.postrider.spring.EventContext;
import java.util.Map;

/** The span in which an event is appended, as W3C's traceparent. */
record TracerContext(Tracer tracer) implements EventContext {

    @Override
    public Map<String, String> headers() {
        Span span = tracer.currentSpan();
        if (span == null) {
            return Map.of();
        }
        TraceContext context = span.context();
        String trace = context.traceId();
        String id = context.spanId();
        if (trace == null || id == null || trace.isEmpty() || trace.length() > 32 || id.length() != 16) {
            return Map.of();
        }
        // Some tracers number with 64 bits.
        String full = "0".repeat(32 - trace.length()) + trace;
        String flags = Boolean.TRUE.equals(context.sampled()) ? "01" : "00";
        return Map.of(MdcContext.TRACEPARENT, "00-" + full + "-" + id + "-" + flags);
    }
}
