// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.handler.HandlerListener;
import io.postrider.relay.Bell;
import io.postrider.relay.RelayListener;
import io.postrider.spring.EventJson;
import io.postrider.spring.HandlerMethods;
import io.postrider.spring.SpringOutbox;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;

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
            ObjectProvider<HandlerListener> handlerListeners,
            Environment environment) {
        boolean virtual = environment.getProperty("spring.threads.virtual.enabled", Boolean.class, false);
        return new Surroundings(beans, json, outbox, relayListeners, handlerListeners, virtual);
    }

    /**
     * What the workers find around them when they start.
     *
     * @param virtual whether the application wants virtual threads
     */
    record Surroundings(
            ListableBeanFactory beans,
            ObjectProvider<EventJson> json,
            ObjectProvider<SpringOutbox> outbox,
            ObjectProvider<RelayListener> relayListeners,
            ObjectProvider<HandlerListener> handlerListeners,
            boolean virtual) {

        HandlerMethods methods() {
            return HandlerMethods.of(beans, json::getIfAvailable);
        }

        Bell bell() {
            SpringOutbox found = outbox.getIfAvailable();
            return found == null ? new Bell() : found.bell();
        }

        /** Whose threads handlers run on; empty: those of a pool of their own. */
        Optional<Executor> threads(String worker) {
            return virtual && Runtime.version().feature() >= 21
                    ? Optional.of(new VirtualThreadTaskExecutor("postrider-" + worker + "-"))
                    : Optional.empty();
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
