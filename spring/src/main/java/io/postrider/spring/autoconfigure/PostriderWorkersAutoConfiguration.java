// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.handler.HandlerListener;
import io.postrider.relay.Bell;
import io.postrider.relay.RelayListener;
import io.postrider.spring.EventJson;
import io.postrider.spring.HandlerMethods;
import io.postrider.spring.SpringOutbox;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;

/** The workers of the application: what {@code postrider.workers} says, for the methods that handle events. */
@AutoConfiguration(after = PostriderHousekeepingAutoConfiguration.class)
@ConditionalOnBean(Storage.class)
public final class PostriderWorkersAutoConfiguration {

    /** Stopped by its lifecycle; as a bean only if the context fails while it starts. */
    @Bean(destroyMethod = "stop")
    WorkersLifecycle postriderWorkers(
            Storage storage, PostriderProperties properties, Surroundings surroundings, Chores chores) {
        return new WorkersLifecycle(storage, properties, surroundings, chores);
    }

    @Bean
    Surroundings postriderSurroundings(
            ListableBeanFactory beans,
            ObjectProvider<EventJson> json,
            ObjectProvider<SpringOutbox> outbox,
            ObjectProvider<RelayListener> relayListeners,
            ObjectProvider<HandlerListener> handlerListeners) {
        return new Surroundings(beans, json, outbox, relayListeners, handlerListeners);
    }

    /** What the workers find around them when they start. */
    record Surroundings(
            ListableBeanFactory beans,
            ObjectProvider<EventJson> json,
            ObjectProvider<SpringOutbox> outbox,
            ObjectProvider<RelayListener> relayListeners,
            ObjectProvider<HandlerListener> handlerListeners) {

        HandlerMethods methods() {
            return HandlerMethods.of(beans, json::getIfAvailable);
        }

        Bell bell() {
            SpringOutbox found = outbox.getIfAvailable();
            return found == null ? new Bell() : found.bell();
        }

        RelayListener relayListener() {
            return new Listeners(relayListeners.orderedStream().toList());
        }

        HandlerListener handlerListener() {
            var all = handlerListeners.orderedStream().toList();
            return (event, events, took, done) -> all.forEach(each -> each.handled(event, events, took, done));
        }
    }
}
