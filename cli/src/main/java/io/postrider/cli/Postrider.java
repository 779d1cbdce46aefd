// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.lang.reflect.Constructor;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;

/** All commands. */
@Command(
        name = "postrider",
        mixinStandardHelpOptions = true,
        versionProvider = Postrider.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = "What is stuck in the outbox, why, and what can be done about it.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:failed",
            "2:wrong usage",
            "3:nothing was found or changed, something is left over, or a problem was found",
            "4:what is left belongs to running relays"
        },
        subcommands = {
            StatusCommand.class,
            RelaysCommand.class,
            KeysCommand.class,
            DeadCommand.class,
            StreamsCommand.class,
            EventsCommand.class,
            DoctorCommand.class,
            SchemaCommand.Migrate.class,
            SchemaCommand.class,
            SchemaCommand.Roles.class,
            PruneCommand.class,
            CompletionCommand.class
        })
final class Postrider {
    @Mixin
    private Access access;

    private Postrider(Access access) {
        this.access = access;
    }

    static CommandLine commandLine(Console console) {
        Troubles troubles = new Troubles(console);
        return new CommandLine(new Postrider(console.access()), new Factory(console))
                .setOut(console.out())
                .setErr(console.err())
                .setUsageHelpWidth(100)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(troubles)
                .setParameterExceptionHandler(troubles);
    }

    /** Gives every command the console of this call. */
    private record Factory(Console console) implements IFactory {
        @Override
        public <K> K create(Class<K> type) throws Exception {
            for (Constructor<?> constructor : type.getDeclaredConstructors()) {
                if (constructor.getParameterCount() == 1 && constructor.getParameterTypes()[0] == Console.class) {
                    return type.cast(constructor.newInstance(console));
                }
            }
            return CommandLine.defaultFactory().create(type);
        }
    }

    /** The version of the jar. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            @Nullable String version = Postrider.class.getPackage().getImplementationVersion();
            return new String[] {"postrider " + (version == null ? "(not packaged)" : version)};
        }
    }
}
