// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.io.IOException;
import java.time.Duration;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** A small application of Spring Boot in a JVM of its own: it asks its database one thing, and is ready. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class StartupMain {
    /** Printed when the application is ready, with whether it has a relay and the processor time of the JVM so far. */
    static final String READY = "ready ";

    /** Takes settings as Spring Boot does; ends when its input ends. */
    public static void main(String[] args) throws IOException {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(StartupMain.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .run(args)) {
            // As most applications do in some way: the pool is open, and the driver is there.
            context.getBean(JdbcTemplate.class).queryForObject("SELECT 1", Integer.class);
            long cpuMillis = ProcessHandle.current()
                    .info()
                    .totalCpuDuration()
                    .map(Duration::toMillis)
                    .orElse(-1L);
            System.out.println(READY + context.containsBean("postriderRelay") + " " + cpuMillis);
            System.in.readAllBytes();
        }
    }
}
