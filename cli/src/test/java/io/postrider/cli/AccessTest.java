// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.cli.Shell.Result;
import io.postrider.table.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the database is found, what is said when it is not, and the tables themselves. */
class AccessTest {
    private final Shell shell = new Shell();

    @Test
    void tablesAreMadeCheckedAndPrinted() {
        Result missing = shell.type("schema", "validate");
        assertThat(missing.code()).isEqualTo(3);
        assertThat(missing.err())
                .contains("at version 0")
                .contains("postrider migrate")
                .hasLineCount(1);
        assertThat(shell.type("status").err())
                .contains("Postrider's tables are not there")
                .hasLineCount(1);
        assertThat(shell.type("doctor").out()).contains("run: postrider migrate");
        assertThat(shell.type("migrate").out())
                .isEqualTo("Tables migrated from version 0 to " + Schema.latestVersion() + ".\n");
        assertThat(shell.type("migrate").out()).contains("already");
        assertThat(shell.type("schema", "validate").code()).isZero();
        assertThat(shell.type("schema", "print", "--missing").out()).isEmpty();
        assertThat(shell.type("roles", "print").out()).contains("postrider_editor");
    }

    @Test
    void whatIsPrintedMakesTheTablesInAnotherSchemaToo() {
        shell.execute(shell.type("schema", "print", "--schema", "elsewhere").out());
        assertThat(shell.type("schema", "validate", "--schema", "elsewhere").code())
                .isZero();
        shell.environment().put("POSTRIDER_SCHEMA", "elsewhere");
        assertThat(shell.type("status").code()).isZero();
        Result wrong = shell.type("status", "--schema", "else where");
        assertThat(wrong.code()).isEqualTo(2);
    }

    @Test
    void theAddressComesFromAnOptionTheEnvironmentOrAFile(@TempDir Path directory) throws IOException {
        shell.type("migrate");
        shell.environment().clear();
        Result nowhere = shell.type("status");
        assertThat(nowhere.code()).isEqualTo(2);
        assertThat(nowhere.err()).contains("No database is given").hasLineCount(1);
        assertThat(shell.type("status", "--url", shell.database().url()).code()).isZero();
        assertThat(shell.type("--url", shell.database().url(), "status").code()).isZero();
        Path file = directory.resolve("postrider.properties");
        Files.writeString(file, "url=" + shell.database().url() + "\nuser=postgres\n");
        assertThat(shell.type("dead", "list", "--config", file.toString()).code())
                .isZero();
        shell.environment().put("POSTRIDER_CONFIG", file.toString());
        assertThat(shell.type("status").code()).isZero();
        assertThat(shell.type("status", "--config", "none").err()).contains("The file none cannot be read");
    }

    @Test
    void theFileOfAServerNamesDatabasesForEveryCommand(@TempDir Path directory) throws IOException {
        shell.type("migrate");
        shell.environment().clear();
        Path file = directory.resolve("postrider.yaml");
        String orders = "databases:\n  orders: {url: '" + shell.database().url() + "', relays: [{kafka: {}}]}\n";
        Files.writeString(file, orders);
        assertThat(shell.type("status", "--config", file.toString()).code()).isZero();
        Files.writeString(file, orders + "  other: {url: 'jdbc:postgresql://127.0.0.1:1/x', password: '${NONE}'}\n");
        Result which = shell.type("status", "--config", file.toString());
        assertThat(which.code()).isEqualTo(2);
        assertThat(which.err())
                .contains("The file has the databases orders, other. Give one of them: --database NAME.");
        assertThat(shell.type("status", "--config", file.toString(), "--database", "orders")
                        .code())
                .isZero();
        shell.environment().put("POSTRIDER_DATABASE", "orders");
        assertThat(shell.type("status", "--config", file.toString()).code()).isZero();
        assertThat(shell.type("status", "--config", file.toString(), "--database", "other")
                        .err())
                .contains("postrider.yaml:3: databases.other.password: the environment variable NONE is not set");
    }

    @Test
    void aServerHasAnExampleAndChecksItsFileAlone(@TempDir Path directory) throws IOException {
        assertThat(shell.type("serve").err()).contains("No file is given. Use --config postrider.yaml");
        Result example = shell.type("serve", "--print-example");
        assertThat(example.code()).isZero();
        Path file = directory.resolve("postrider.yaml");
        Files.writeString(file, example.out());
        Result unset = shell.type("serve", "--check", "--config", file.toString());
        assertThat(unset.code()).isEqualTo(2);
        assertThat(unset.err()).hasLineCount(5).contains("the environment variable KIM_PASSWORD is not set");
        for (String name : new String[] {"METRICS_TOKEN", "KIM_PASSWORD", "DB_PASSWORD", "ALERT_SECRET"}) {
            shell.environment().put(name, "0123456789abcdef");
        }
        shell.environment().put("SLACK_WEBHOOK_URL", "https://hooks.slack.com/services/x");
        Result good = shell.type("serve", "--check", "--config", file.toString());
        assertThat(good.err()).isEmpty();
        assertThat(good.out()).endsWith("postrider.yaml is fine: orders.\n");
    }

    @Test
    void aServerThatIsNotThereIsSaidInOneLineWithoutThePassword() {
        shell.environment().put("POSTRIDER_PASSWORD", "s3cret");
        shell.environment().put("POSTRIDER_URL", "jdbc:postgresql://127.0.0.1:1/db?password=s3cret");
        Result result = shell.type("status");
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err())
                .startsWith("postrider: Could not read the backlog: ")
                .contains("Check that the server runs and that --url is right.")
                .hasLineCount(1)
                .doesNotContain("s3cret");
        Result debug = shell.type("status", "--debug");
        assertThat(debug.err()).contains("\tat io.postrider").doesNotContain("s3cret");
        Result noAddress = shell.type("status", "--url", "mysql://u:s3cret@host/db");
        assertThat(noAddress.code()).isEqualTo(2);
        assertThat(noAddress.err()).contains("is no address").doesNotContain("s3cret");
    }

    @Test
    void aUserWithoutTheRightIsToldWhichGuideHelps() {
        shell.type("migrate");
        shell.execute("CREATE USER nobody_" + shell.database().name());
        Result result =
                shell.type("status", "--user", "nobody_" + shell.database().name());
        assertThat(result.code()).isEqualTo(1);
        assertThat(result.err()).contains("permission denied").contains("docs/guide/roles.md");
    }

    @Test
    void wrongUsageEndsWithTwoAndNamesTheHelp() {
        assertThat(shell.type("nonsense").code()).isEqualTo(2);
        assertThat(shell.type("dead").err()).contains("postrider dead --help").hasLineCount(1);
        assertThat(shell.type("dead", "show", "no-uuid").code()).isEqualTo(2);
        assertThat(shell.type("status", "--help").out()).contains("--watch");
        assertThat(shell.type("--help").out()).contains("Exit codes:", "doctor", "drain", "serve");
        assertThat(shell.type("completion").out())
                .contains("complete -F _complete_postrider", "requeue", "--print-example");
    }
}
