// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.micrometer.tracing.Tracer;
import io.postrider.spring.EventContext;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;

/** Events carry the trace in which they are appended, if the application has a tracer. */
@AutoConfiguration(before = PostriderAutoConfiguration.class)
@ConditionalOnClass(Tracer.class)
@ConditionalOnProperty(prefix = "postrider", name = "enabled", matchIfMissing = true)
public final class PostriderTracingAutoConfiguration {

    /** Before what the log lines say: that may be of an outer span. The tracer is looked for when it is needed. */
    @Bean
    @Order(0)
    EventContext postriderTracerContext(ObjectProvider<Tracer> tracer) {
        return () -> {
            Tracer found = tracer.getIfAvailable();
            return found == null ? Map.of() : new TracerContext(found).headers();
        };
    }
}
