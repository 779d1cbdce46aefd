// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.jdbc.JdbcInbox;
import io.postrider.ops.AlertChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** What is done now and then besides delivering: pruning, and telling people what is wrong. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnBean(Storage.class)
public final class PostriderHousekeepingAutoConfiguration {

    @Bean
    Chores postriderChores(
            Storage storage,
            PostriderProperties properties,
            JdbcInbox inbox,
            ObjectProvider<AlertChannel> channels,
            Environment environment) {
        List<AlertChannel> own = channels.orderedStream().toList();
        return new Chores(storage, properties, inbox, own, alerts(environment, !own.isEmpty()));
    }

    /** Null if nobody is to be told: to make the defaults of what nobody wants would only take time. */
    private static @Nullable AlertProperties alerts(Environment environment, boolean wanted) {
        Binder binder = Binder.get(environment);
        return wanted
                ? binder.bindOrCreate(AlertProperties.PREFIX, AlertProperties.class)
                : binder.bind(AlertProperties.PREFIX, AlertProperties.class).orElse(null);
    }

    /** Stopped by its lifecycle; as a bean only if the context fails while it starts. */
    @Bean(destroyMethod = "stop")
    HousekeepingLifecycle postriderHousekeeping(Chores chores) {
        return new HousekeepingLifecycle(chores);
    }
}
