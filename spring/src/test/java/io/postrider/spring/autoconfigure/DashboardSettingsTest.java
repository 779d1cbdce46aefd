// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postrider.server.TokenAuthenticator;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** What is refused before a browser asks. */
class DashboardSettingsTest {
    private final StaticListableBeanFactory beans = new StaticListableBeanFactory();

    private DashboardMount mount(String... namesAndValues) {
        Map<String, Object> settings = new HashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            settings.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource("test", settings));
        DashboardProperties given = new Binder(new MapConfigurationPropertySource(settings))
                .bindOrCreate("postrider.dashboard", DashboardProperties.class);
        return new DashboardMount(given, beans, environment);
    }

    @Test
    void nobody_is_let_in_unasked_where_proxies_are_trusted() {
        assertThatThrownBy(() ->
                        mount("postrider.dashboard.local", "true", "server.forward-headers-strategy", "framework"))
                .isInstanceOf(SetupException.class)
                .hasMessage("postrider.dashboard.local is true, and server.forward-headers-strategy is framework:"
                        + " behind a proxy everybody could seem to be on this machine.");
        assertThatThrownBy(() -> mount(
                        "postrider.dashboard.local",
                        "true",
                        "server.tomcat.remoteip.remote-ip-header",
                        "x-forwarded-for"))
                .hasMessageContaining("server.tomcat.remoteip.remote-ip-header is set");
        assertThatThrownBy(() -> mount("postrider.dashboard.local", "true", "spring.main.cloud-platform", "kubernetes"))
                .hasMessageContaining("the application runs on KUBERNETES");
    }

    @Test
    void either_all_sign_in_or_nobody_does() {
        assertThatThrownBy(() -> mount(
                        "postrider.dashboard.local",
                        "true",
                        "postrider.dashboard.users.kim.password",
                        "correct horse battery"))
                .hasMessage("postrider.dashboard.local is true, so that nobody has to sign in, and there are"
                        + " postrider.dashboard.users, so that everybody has to.");
    }

    @Test
    void people_are_known_by_the_settings_or_by_the_application() {
        beans.addBean("own", TokenAuthenticator.of(Map.of()));
        assertThat(mount()).isNotNull();
        assertThatThrownBy(() -> mount("postrider.dashboard.users.kim.password", "correct horse battery"))
                .isInstanceOf(SetupException.class)
                .hasMessage("There are postrider.dashboard.users, and there is an Authenticator bean, which would not"
                        + " know them.");
    }

    @Test
    void settings_are_not_told_with_their_values() {
        Map<String, Object> settings = Map.of(
                "postrider.append.properties.basic.auth.user.info", "s3cret",
                "postrider.kafka.properties.sasl.jaas.config", "s3cret");
        assertThat(new Binder(new MapConfigurationPropertySource(settings))
                        .bindOrCreate("postrider", PostriderProperties.class))
                .asString()
                .contains("basic.auth.user.info", "sasl.jaas.config")
                .doesNotContain("s3cret");
    }

    @Test
    void each_user_has_one_secret_that_cannot_be_guessed() {
        assertThatThrownBy(() -> mount("postrider.dashboard.users.kim.role", "admin"))
                .hasMessage("Nobody can sign in to the dashboard as it is set up: The user kim has neither a password"
                        + " nor a token. Give one of them.");
        assertThatThrownBy(() -> mount("postrider.dashboard.users.kim.password", "secret"))
                .hasMessageContaining("The password of kim has 6 characters and can be guessed.");
        String token = "0123456789abcdef";
        assertThatThrownBy(() -> mount(
                        "postrider.dashboard.users.kim.token", token, "postrider.dashboard.users.lee.token", token))
                .hasMessageContaining("has the same token as another one")
                .hasMessageNotContaining(token);
        assertThat(new DashboardProperties.User(DashboardProperties.Role.ADMIN, "secret", "secret"))
                .asString()
                .doesNotContain("secret");
    }

    @Test
    void it_has_a_place_of_its_own() {
        for (String path : new String[] {"/", "postrider", "/postrider/", "/*", "/a//b"}) {
            assertThatThrownBy(() -> mount("postrider.dashboard.path", path))
                    .hasMessage("The dashboard cannot be mounted at '" + path + "'.");
        }
    }
}
