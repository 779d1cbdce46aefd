// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.spring.EventContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** The correlation id and the trace that the application's log lines carry. */
final class MdcContext implements EventContext {
    static final String CORRELATION_ID = "X-Correlation-ID";
    static final String TRACEPARENT = "traceparent";

    /** May come from a caller of the application: what is no plain short text is left out, and appending goes on. */
    private static final Pattern PLAIN = Pattern.compile("[\\x21-\\x7e]([\\x20-\\x7e]{0,254}[\\x21-\\x7e])?");

    private static final Pattern W3C = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

    @Override
    public Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        take(CORRELATION_ID, MDC.get(CORRELATION_ID), PLAIN, headers);
        take(TRACEPARENT, MDC.get(TRACEPARENT), W3C, headers);
        return headers;
    }

    private static void take(String name, @Nullable String value, Pattern form, Map<String, String> headers) {
        if (value != null && form.matcher(value).matches()) {
            headers.put(name, value);
        }
    }
}
