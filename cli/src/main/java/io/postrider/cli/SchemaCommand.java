// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "schema",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "The SQL of the tables, for those who run it with their own tool.",
        subcommands = {SchemaCommand.Print.class, SchemaCommand.Validate.class})
final class SchemaCommand {
    SchemaCommand(Console console) {}

    @Command(name = "print", mixinStandardHelpOptions = true, description = "Print the SQL that makes the tables.")
    static final class Print implements Callable<Integer> {
        private final Console console;

        @Option(names = "--missing", description = "Only what this database lacks.")
        private boolean missing;

        Print(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            Access access = console.access();
            int version =
                    missing ? Schema.of(access.dataSource(), access.tables()).version() : 0;
            if (version < Schema.latestVersion()) {
                console.out().print(Schema.sql(access.tables(), version));
            }
            return Exit.DONE;
        }
    }

    @Command(
            name = "validate",
            mixinStandardHelpOptions = true,
            description = "Check that this program can use the tables.")
    static final class Validate implements Callable<Integer> {
        private final Console console;

        Validate(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            Access access = console.access();
            int version = Schema.of(access.dataSource(), access.tables()).version();
            if (version < Schema.latestVersion()) {
                throw new Refusal(
                        Exit.NOTHING,
                        "The tables are at version " + version + " and this program needs " + Schema.latestVersion()
                                + ". Run postrider migrate, or the SQL of: postrider schema print --missing");
            }
            console.say("The tables are at version " + version
                    + (version == Schema.latestVersion()
                            ? ", as this program needs."
                            : ", newer than this program, which can use them."));
            return Exit.DONE;
        }
    }

    @Command(
            name = "migrate",
            mixinStandardHelpOptions = true,
            description = "Bring the tables to this version; gives way to other transactions for up to two minutes.")
    static final class Migrate implements Callable<Integer> {
        private final Console console;

        Migrate(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            Access access = console.access();
            Schema schema = Schema.of(access.dataSource(), access.tables());
            int before = schema.version();
            schema.apply(SchemaMode.MIGRATE);
            console.say(
                    before >= Schema.latestVersion()
                            ? "The tables are at version " + before + " already."
                            : "Tables migrated from version " + before + " to " + Schema.latestVersion() + ".");
            return Exit.DONE;
        }
    }

    @Command(
            name = "roles",
            mixinStandardHelpOptions = true,
            synopsisSubcommandLabel = "COMMAND",
            description = "Database roles with no more rights than they need.",
            subcommands = RolesPrint.class)
    static final class Roles {
        Roles(Console console) {}
    }

    @Command(name = "print", mixinStandardHelpOptions = true, description = "Print the SQL that makes the roles.")
    static final class RolesPrint implements Callable<Integer> {
        private final Console console;

        RolesPrint(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            String schema = console.access().tables().schema();
            if (!schema.isEmpty()) {
                console.out().println("SET search_path TO " + schema + ";");
            }
            console.out().print(Schema.roles());
            return Exit.DONE;
        }
    }
}
