// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.jdbc.JdbcInbox;
import io.postrider.ops.AlertChannel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

/** What is done now and then besides delivering: pruning, and telling people what is wrong. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnBean(Storage.class)
public final class PostriderHousekeepingAutoConfiguration {

    @Bean
    Chores postriderChores(
            Storage storage, PostriderProperties properties, JdbcInbox inbox, ObjectProvider<AlertChannel> channels) {
        return new Chores(storage, properties, inbox, channels.orderedStream().toList());
    }

    /** Stopped by its lifecycle; as a bean only if the context fails while it starts. */
    @Bean(destroyMethod = "stop")
    HousekeepingLifecycle postriderHousekeeping(Chores chores) {
        return new HousekeepingLifecycle(chores);
    }
}
