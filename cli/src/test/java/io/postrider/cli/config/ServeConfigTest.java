// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postrider.jdbc.StreamSettings;
import io.postrider.server.Role;
import io.postrider.table.SchemaMode;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.event.Level;

/** What a file says, and what is said about a file with mistakes. */
class ServeConfigTest {
    private static final String MINIMAL = """
            databases:
              orders:
                url: jdbc:postgresql://localhost/orders
                relays:
                  - kafka:
                      bootstrap-servers: localhost:9092
            """;

    private final Map<String, String> environment = new HashMap<>();

    @Test
    void littleIsNeededAndTheRestHasDefaults() {
        ServeConfig config = read(MINIMAL);
        assertThat(config.server()).isEqualTo(new ServeConfig.Http("127.0.0.1", 8080, List.of()));
        assertThat(config.log().level()).isEqualTo(Level.INFO);
        DatabaseConfig orders = database(config, "orders");
        assertThat(orders.schemaMode()).isEqualTo(SchemaMode.VALIDATE);
        assertThat(orders.alerts().channels()).hasSize(1);
        RelayConfig relay = orders.relays().get(0);
        assertThat(relay.group()).isEqualTo("default");
        assertThat(relay.times().lease()).isEqualTo(Duration.ofSeconds(8));
        assertThat(relay.retry().maxAttempts()).isEqualTo(5);
        assertThat(relay.kafka()).hasToString("Kafka at localhost:9092");
    }

    @Test
    void everythingCanBeSaid() {
        environment.putAll(Map.of("TOKEN", "0123456789abcdef", "PORT", "9000", "SECRET", "a: b # {no} \"yaml\""));
        ServeConfig config = read("""
                server: {host: 0.0.0.0, port: "${PORT}", hosts: [outbox.example.com:443]}
                log: {format: json, level: warn, loggers: {io.postrider: debug}}
                auth: {tokens: [{name: kim, role: admin, token: "${TOKEN}"}]}
                databases:
                  a:
                    url: jdbc:postgresql://${HOST:db}:5432/a
                    user: u
                    password: ${SECRET}
                    schema-mode: migrate
                    pool-size: 40
                    history: {keep: 30d, mode: archive, daily-at: "03:30", zone: Europe/Rome}
                    alerts: {log: false, ignore: [held-key], thresholds: {pending: 5}}
                    relays:
                      - loops: 3
                        retry: {attempts: 9, first: 1s, longest: 1m}
                        streams: {s1: {on-dead: skip, history: no-payload}}
                        kafka: {bootstrap-servers: "k:1", topics: {s1: t1}, producer: {linger.ms: 5}}
                      - group: mail
                        streams: {mail: {}}
                        kafka: {bootstrap-servers: "k:1"}
                  b: {url: "jdbc:postgresql://db/b"}
                """);
        assertThat(config.server().port()).isEqualTo(9000);
        assertThat(config.log().loggers()).containsEntry("io.postrider", Level.DEBUG);
        assertThat(config.auth().tokens().get(0).role()).isEqualTo(Role.ADMIN);
        DatabaseConfig a = database(config, "a");
        assertThat(a.address().url()).isEqualTo("jdbc:postgresql://db:5432/a");
        assertThat(a.address().password()).contains("a: b # {no} \"yaml\"");
        assertThat(a.history().mode()).isEqualTo(DatabaseConfig.HistoryMode.ARCHIVE);
        assertThat(a.relays().get(0).streams())
                .containsExactly(StreamSettings.of("s1")
                        .withOnDead(StreamSettings.OnDead.SKIP)
                        .withHistory(StreamSettings.History.NO_PAYLOAD));
        assertThat(a.relays().get(0).kafka().producer()).containsEntry("linger.ms", "5");
        assertThat(a.connections()).isEqualTo(2 * 3 + 2 + 2 * 1 + 2 + 1 + 6);
        assertThat(database(config, "b").relays()).isEmpty();
        assertThat(config.toString()).doesNotContain("0123456789abcdef");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "server: {prot: 1}           | 1: server.prot: there is no such key. Did you mean port?",
                "sevrer: {port: 1}           | 1: sevrer: there is no such key. Did you mean server?",
                "zzz: 1                      | 1: zzz: there is no such key. Known here: auth, server, log",
                "server: {port: 70000}       | 1: server.port: '70000' was found, a whole number from 0 to 65535 is",
                "server: {port: [1]}         | 1: server.port: a list was found, one value is expected.",
                "server: 8080                | 1: server: a single value was found, a section of keys and values is",
                "server:                     | 1: server: nothing was found, a section of keys and values is",
                "server: {host: 0.0.0.0}     | 1: server.host: '0.0.0.0' can be reached by others, and nobody",
                "log: {format: xml}          | 1: log.format: 'xml' was found, one of text, json is expected.",
                "log: {loggers: {a: loud}}   | 1: log.loggers: a: 'loud' was found, one of error, warn,",
                "metrics: {refresh: 15}      | 1: metrics.refresh: '15' was found, a time of more than nothing, such",
                "metrics: {public: yes}      | 1: metrics.public: 'yes' was found, true or false is expected.",
                "metrics: {prefix: ''}       | 1: metrics.prefix: is empty. Give a value, or remove the key.",
                "health: {ready-within: 0s}  | 1: health.ready-within: '0s' was found, a time of more than nothing",
                "auth: {tokens: {a: b}}      | 1: auth.tokens: a section was found, a list, each with a dash before",
                "auth: {tokens: [{name: a, token: short}]} | 1: auth.tokens[0].token: The token of a has 5 characters",
                "auth: {tokens: [{token: 0123456789abcdef}]} | 1: auth.tokens[0].name: is missing. Write who signs in",
                "auth: {basic: [{password: 0123456789abcdef}]} | 1: auth.basic[0].name: is missing. Write who signs in",
                "health: {ready-within: 2m}  | 1: health.ready-within: 2m is longer than live-within, 1m: it would",
                "auth: {basic: [{name: a}]}  | 1: auth.basic[0].password: is missing. Write ${A_VARIABLE} with the",
                "log: {level: '${LEVEL}'}    | 1: log.level: the environment variable LEVEL is not set. Set it, or",
                "log: {level: '${LEVEL'}     | 1: log.level: has a ${ that names no variable.",
                "databases: {a: {}}          | 1: databases.a.url: is missing. Write jdbc:postgresql://host:5432",
                "databases: {a: {url: 'mysql://x'}}  | 1: databases.a.url: 'mysql://x' is no address of a database.",
                "databases: {Orders: {url: 'jdbc:postgresql:o'}} | 1: databases: 'Orders' names a part of the server's",
                "databases: {health: {url: 'jdbc:postgresql:o'}} | 1: databases: 'health' names a part of the server's",
                "databases: {}               | 1: databases: there is none. Give at least one",
                "log: {level: info, level: warn} | 1: log.level: stands there twice. Remove one.",
                "[1, 2]                      | 1: is not a file of keys and values.",
                "a: {b                       | is no YAML: ",
            })
    void mistakesAreToldWithTheirLine(String yaml, String told) {
        assertThat(problems(yaml))
                .anySatisfy(
                        each -> assertThat(each).startsWith("postrider.yaml:").contains(told));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "pool-size: 3                       | databases.orders.pool-size: 3 was found, and this database needs",
                "schema: No                         | databases.orders.schema: Schema name 'No' is not allowed",
                "history: {keep: 3h}                | databases.orders.history.keep: 3h was found, a day or more",
                "history: {daily-at: noon}          | databases.orders.history.daily-at: 'noon' was found, a time of",
                "history: {zone: Mars}              | databases.orders.history.zone: 'Mars' was found, a time zone",
                "alerts: {remind-every: 1m}         | databases.orders.alerts.remind-every: 1m was found, from news-",
                "alerts: {ignore: [heldkey]}        | databases.orders.alerts.ignore: 'heldkey' was found, some of",
                "alerts: {slack: {url: 'http://x/y'}} | databases.orders.alerts.slack.url: The webhook at http://x/… is",
                "alerts: {webhook: {url: 'https://x/y'}} | databases.orders.alerts.webhook.secret: is missing.",
            })
    void mistakesOfADatabaseToo(String line, String told) {
        assertThat(problems(MINIMAL + "    " + line + "\n"))
                .singleElement()
                .asString()
                .startsWith("postrider.yaml:7: ")
                .contains(told);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "lease: 1h                     | 7: databases.orders.relays[0].lease: 1h was found, from 1s to 10m",
                "statement-timeout: 30s        | health.live-within: 1m is too short where a relay has a statement-timeout of 30s",
                "loops: 0                      | 7: databases.orders.relays[0].loops: '0' was found, a whole number",
                "group: mail                   | 7: databases.orders.relays[0].group: 'mail' has no streams, so it",
                "retry: {first: 1h}            | 7: databases.orders.relays[0].retry.longest: The longest delay",
                "streams: {s: {on-dead: drop}} | 7: databases.orders.relays[0].streams.s.on-dead: 'drop' was found, one",
                "mode: competing               | 7: databases.orders.relays[0].mode: there is no such key.",
                "  format: cloud-events        | 5: databases.orders.relays[0].kafka.cloud-events-source: is missing.",
                "  producer: {linger: 5}       | 7: databases.orders.relays[0].kafka.producer: linger is no setting",
                "  producer: {lingr.ms: 5}     | Did you mean linger.ms?",
                "  producer: {acks: 1}         | 5: databases.orders.relays[0].kafka: acks=1 was given",
                "  producer: {linger.ms: soon} | 5: databases.orders.relays[0].kafka: linger.ms=soon was given, but it must",
                "  producer: {compression.type: rar} | 5: databases.orders.relays[0].kafka: The Kafka producer could",
                "  bootstrap.servers: x        | 7: databases.orders.relays[0].kafka.bootstrap.servers: there is no such",
            })
    void mistakesOfARelayToo(String line, String told) {
        assertThat(problems(MINIMAL + "        "
                        + (line.startsWith("format") || line.startsWith("producer") || line.startsWith("bootstrap")
                                ? "  "
                                : "")
                        + line + "\n"))
                .anySatisfy(
                        each -> assertThat(each).startsWith("postrider.yaml:").contains(told));
    }

    @Test
    void allMistakesAreToldAtOnceInTheOrderOfTheirLines() {
        assertThat(problems("""
                        server: {port: x}
                        databases:
                          a:
                            url: nowhere
                            colour: red
                            relays:
                              - loops: many
                        """))
                .hasSize(5)
                .isSortedAccordingTo(Comparator.comparingInt(each -> Integer.parseInt(each.split(":", -1)[1])));
    }

    @Test
    void aFileWithoutDatabasesIsNoServer() {
        assertThat(problems("log: {level: info}")).singleElement().asString().contains("databases: there is none.");
    }

    @Test
    void secretsThatAreMissingAreNotSaidToBeTheSame() {
        assertThat(problems("auth: {tokens: [{name: a}, {name: b}]}\n" + MINIMAL))
                .hasSize(2)
                .allMatch(each -> each.contains(".token: is missing."));
        assertThat(problems(
                        "auth: {tokens: [{token: 0123456789abcdef}, {name: b, token: 0123456789abcdef}]}\n" + MINIMAL))
                .anyMatch(each -> each.contains("auth.tokens[1].token: is somebody else's too."));
    }

    @Test
    void noSecretIsTold() {
        environment.put("TOKEN", "s3cret");
        assertThat(problems("auth: {tokens: [{name: a, token: '${TOKEN}'}]}\ndatabases: {a: {url: 'x:y:pass@z'}}"))
                .noneMatch(each -> each.contains("s3cret"));
        assertThat(problems("databases: {a: {url: 'jdbc:mysql://u:s3cret@h/d?password=s3cret'}}"))
                .noneMatch(each -> each.contains("s3cret"));
    }

    private static DatabaseConfig database(ServeConfig config, String name) {
        return Objects.requireNonNull(config.databases().get(name));
    }

    private ServeConfig read(String yaml) {
        return ServeConfig.of(new YamlFile("postrider.yaml", yaml, environment::get));
    }

    private List<String> problems(String yaml) {
        return catchThrowableOfType(ConfigException.class, () -> read(yaml)).problems();
    }
}
