// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.server.DashboardHandler;
import jakarta.servlet.Servlet;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** The dashboard in a web application that has the module for it. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnClass({DashboardHandler.class, Servlet.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(Storage.class)
@ConditionalOnProperty(prefix = "postrider.dashboard", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(DashboardProperties.class)
public final class PostriderDashboardAutoConfiguration {

    /** Stopped by its lifecycle; as a bean only if the context fails while it starts. */
    @Bean(destroyMethod = "stop")
    DashboardMount postriderDashboard(
            DashboardProperties properties, ListableBeanFactory beans, Environment environment) {
        return new DashboardMount(properties, beans, environment);
    }
}
