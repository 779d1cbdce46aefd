// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.internal.Library;
import java.lang.reflect.Constructor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
        })
final class Postrider {
    private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("status", StatusCommand.class);
        COMMANDS.put("relays", RelaysCommand.class);
        COMMANDS.put("keys", KeysCommand.class);
        COMMANDS.put("dead", DeadCommand.class);
        COMMANDS.put("unknown", UnknownCommand.class);
        COMMANDS.put("streams", StreamsCommand.class);
        COMMANDS.put("events", EventsCommand.class);
        COMMANDS.put("tail", TailCommand.class);
        COMMANDS.put("replay", ReplayCommand.class);
        COMMANDS.put("drain", DrainCommand.class);
        COMMANDS.put("serve", ServeCommand.class);
        COMMANDS.put("doctor", DoctorCommand.class);
        COMMANDS.put("migrate", SchemaCommand.Migrate.class);
        COMMANDS.put("schema", SchemaCommand.class);
        COMMANDS.put("roles", SchemaCommand.Roles.class);
        COMMANDS.put("prune", PruneCommand.class);
        COMMANDS.put("completion", CompletionCommand.class);
    }

    @Mixin
    Access access;

    private Postrider(Access access) {
        this.access = access;
    }

    /** Runs one call, and returns what the shell gets. */
    static int run(Console console, String... args) {
        Troubles troubles = new Troubles(console);
        CommandLine line = new CommandLine(new Postrider(console.access()), new Factory(console));
        // To read the annotations of all commands takes longer than to run one: only those that may be meant.
        List<String> words = List.of(args);
        boolean one =
                !words.contains("completion") && COMMANDS.keySet().stream().anyMatch(words::contains);
        COMMANDS.forEach((name, type) -> {
            if (!one || words.contains(name)) {
                line.addSubcommand(name, type);
            }
        });
        return line.setOut(console.out())
                .setErr(console.err())
                .setUsageHelpWidth(100)
                .setExecutionExceptionHandler(troubles)
                .setParameterExceptionHandler(troubles)
                .execute(args);
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

    /** The version of the library in it. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"postrider " + Library.version()};
        }
    }
}
