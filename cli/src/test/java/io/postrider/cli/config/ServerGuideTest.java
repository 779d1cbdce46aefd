// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The example has every key, and the guide tells each with its default. */
class ServerGuideTest {
    private static final Pattern ROW = Pattern.compile("\\| `([a-z*.-]+)` \\| `?([^|`]+?)`? \\|.*");
    /** What the example sets otherwise than the default, since it shows what there is. */
    private static final Set<String> SHOWN = Set.of(
            "server.hosts",
            "log.loggers",
            "auth.tokens",
            "auth.basic",
            "auth.basic.*.role",
            "databases",
            "databases.*.user",
            "databases.*.password",
            "databases.*.schema",
            "databases.*.relays",
            "databases.*.alerts.ignore",
            "databases.*.relays.*.name",
            "databases.*.relays.*.streams",
            "databases.*.relays.*.kafka.format",
            "databases.*.relays.*.kafka.cloud-events-source",
            "databases.*.relays.*.kafka.topics",
            "databases.*.relays.*.kafka.dead-letter-topic",
            "databases.*.relays.*.kafka.producer");

    @Test
    void theGuideHasEveryKeyWithItsDefault() throws IOException {
        Map<String, String> told = new LinkedHashMap<>();
        for (String line : Files.readAllLines(Path.of("../docs/guide/server.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                told.put(row.group(1), row.group(2));
            }
        }
        Map<String, String> known = new LinkedHashMap<>();
        read().defaults().forEach((key, otherwise) -> known.put(key, otherwise.isEmpty() ? "none" : otherwise));
        assertThat(told).containsExactlyInAnyOrderEntriesOf(known);
    }

    @Test
    void theExampleShowsEveryKeyWithItsDefaultUnlessItSaysOtherwise() throws IOException {
        Map<String, String> shown = new LinkedHashMap<>();
        flatten("", new Load(LoadSettings.builder().build()).loadFromString(example()), shown);
        YamlFile file = read();
        assertThat(shown.keySet()).containsAll(file.defaults().keySet());
        file.defaults().forEach((key, otherwise) -> {
            if (!SHOWN.contains(key) && !otherwise.equals("needed")) {
                assertThat(shown.get(key)).as(key).isEqualTo(otherwise);
            }
        });
    }

    @Test
    void theFileInTheGuideIsGood() throws IOException {
        Matcher block = Pattern.compile("```yaml\n(# postrider.yaml\n.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/guide/server.md")));
        assertThat(block.find()).isTrue();
        ServeConfig config = ServeConfig.of(new YamlFile("postrider.yaml", block.group(1), name -> "secret"));
        assertThat(config.databases()).containsOnlyKeys("orders");
    }

    private static void flatten(String path, Object value, Map<String, String> into) {
        into.put(path, String.valueOf(value));
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, each) -> {
                boolean named = path.equals("databases") || path.endsWith(".streams");
                flatten(path.isEmpty() ? "" + key : path + "." + (named ? "*" : key), each, into);
            });
        } else if (value instanceof Iterable<?> list) {
            list.forEach(each -> flatten(path + ".*", each, into));
        }
    }

    private static YamlFile read() throws IOException {
        YamlFile file = new YamlFile(
                "postrider.yaml",
                example(),
                name -> name.equals("SLACK_WEBHOOK_URL")
                        ? "https://hooks.slack.com/services/x"
                        : name.equals("DB_HOST") || name.equals("KAFKA") ? null : name + "-0123456789abcdef");
        ServeConfig.of(file);
        return file;
    }

    private static String example() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(ServerGuideTest.class.getResourceAsStream("/io/postrider/cli/postrider.yaml"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
