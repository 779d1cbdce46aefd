// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.postgres.CommitSignal;
import io.postrider.spring.SpringOutbox;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Signals between processes, where the application has the module for them. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnClass(CommitSignal.class)
@ConditionalOnBean({Storage.class, SpringOutbox.class})
@ConditionalOnProperty(prefix = "postrider.relay", name = "signals", matchIfMissing = true)
public final class PostriderSignalAutoConfiguration {

    @Bean(destroyMethod = "stop")
    SignalLifecycle postriderSignals(Storage storage, PostriderProperties properties, SpringOutbox outbox) {
        return new SignalLifecycle(storage, properties, outbox.bell());
    }
}
