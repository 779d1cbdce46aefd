// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Puts a {@link RecordingOutbox} in the place of the outbox; no tables are touched and no relay runs. For test classes
 * with {@code @SpringBootTest}, and for configurations.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Import(AutoConfigureRecordingOutbox.Recording.class)
public @interface AutoConfigureRecordingOutbox {

    /** What is imported. */
    @Configuration(proxyBeanMethods = false)
    class Recording {

        @Bean
        RecordingOutbox recordingOutbox() {
            return new RecordingOutbox();
        }

        @Bean
        SmartInitializingSingleton recordingOutboxEnlistment(ListableBeanFactory beans, RecordingOutbox outbox) {
            return () -> beans.getBeansOfType(ConfigurableTransactionManager.class, false, true)
                    .values()
                    .forEach(outbox::watch);
        }
    }
}
