// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.config.ServeConfig;
import io.postrider.cli.serve.RelayServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The manifests for Kubernetes fit together, and fit the server. */
class DeploymentTest {
    private static final Path MANIFESTS = Path.of("../deploy/kubernetes");

    @Test
    void theConfigurationInTheManifestsIsGoodAndItsProbesAndPortsAreTheServers(@TempDir Path directory)
            throws IOException {
        Map<?, ?> pod = map(kind("Deployment"), "spec", "template", "spec");
        Map<?, ?> container = (Map<?, ?>) list(pod, "containers").get(0);
        Map<String, String> environment = new HashMap<>();
        Map<?, ?> secrets = map(kind("Secret"), "stringData");
        for (Object each : list(container, "env")) {
            Map<?, ?> reference = map((Map<?, ?>) each, "valueFrom", "secretKeyRef");
            environment.put(String.valueOf(((Map<?, ?>) each).get("name")), text(secrets, text(reference, "key")));
        }
        Path file = directory.resolve("postrider.yaml");
        Files.writeString(file, text(map(kind("ConfigMap"), "data"), "postrider.yaml"));

        StringWriter err = new StringWriter();
        Console console =
                new Console(new PrintWriter(new StringWriter()), new PrintWriter(err, true), environment::get);
        assertThat(Postrider.run(console, "serve", "--check", "--config", file.toString()))
                .as(err::toString)
                .isZero();

        ServeConfig config = ServeConfig.read(file, environment::get);
        assertThat(((Map<?, ?>) list(container, "ports").get(0)).get("containerPort"))
                .isEqualTo(config.server().port());
        assertThat(map(container, "livenessProbe", "httpGet").get("path")).isEqualTo(RelayServer.LIVE);
        assertThat(map(container, "readinessProbe", "httpGet").get("path")).isEqualTo(RelayServer.READY);
        Duration longest = config.databases().values().stream()
                .flatMap(each -> each.relays().stream())
                .map(each -> each.times().stopTime())
                .max(Duration::compareTo)
                .orElseThrow();
        assertThat((Integer) pod.get("terminationGracePeriodSeconds")).isGreaterThan((int) longest.toSeconds() + 10);
        assertThat(map(pod, "securityContext").get("runAsNonRoot")).isEqualTo(true);
        Object port = ((Map<?, ?>) list(map(kind("Service"), "spec"), "ports").get(0)).get("targetPort");
        assertThat(port).isEqualTo(((Map<?, ?>) list(container, "ports").get(0)).get("name"));
        Object labels = map(kind("Deployment"), "spec", "template", "metadata").get("labels");
        assertThat(map(kind("Service"), "spec").get("selector")).isEqualTo(labels);
        assertThat(map(kind("PodDisruptionBudget"), "spec", "selector").get("matchLabels"))
                .isEqualTo(labels);
    }

    @Test
    void theImageRunsAsNobodySpecialAndAsksItself() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("../Dockerfile"));
        assertThat(lines).contains("USER 10001", "CMD [\"serve\"]", "EXPOSE 8080");
        assertThat(lines).anyMatch(line -> line.startsWith("HEALTHCHECK") && line.endsWith("\"--probe\"]"));
        assertThat(lines).noneMatch(line -> line.matches("(?i)^(ENV|ARG).*(password|token|secret).*"));
    }

    private static Map<?, ?> kind(String kind) throws IOException {
        try (Stream<Path> files = Files.list(MANIFESTS)) {
            for (Path file : files.sorted().toList()) {
                Object read = new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file));
                if (read instanceof Map<?, ?> map && kind.equals(map.get("kind"))) {
                    return map;
                }
            }
        }
        throw new AssertionError("No manifest is a " + kind);
    }

    private static Map<?, ?> map(Map<?, ?> outer, String... path) {
        Map<?, ?> found = outer;
        for (String each : path) {
            found = (Map<?, ?>) Objects.requireNonNull(found.get(each), each);
        }
        return found;
    }

    private static List<?> list(Map<?, ?> outer, String name) {
        return (List<?>) Objects.requireNonNull(outer.get(name), name);
    }

    private static String text(Map<?, ?> outer, String name) {
        return (String) Objects.requireNonNull(outer.get(name), name);
    }
}
