// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Streams;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "streams",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Stop and start the delivery of a stream, at all relays at once.",
        subcommands = {StreamsCommand.Pause.class, StreamsCommand.Resume.class})
final class StreamsCommand {
    StreamsCommand(Console console) {}

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Deliver nothing more of this stream; what is under way is finished.")
    static final class Pause implements Callable<Integer> {
        private final Console console;

        @Parameters(paramLabel = "STREAM")
        private String stream = "";

        @Mixin
        private Signature signature = new Signature();

        Pause(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            boolean changed = Streams.of(
                            console.access().dataSource(), console.access().tables())
                    .pause(stream, signature.actor());
            if (!changed) {
                throw new Refusal(
                        Exit.NOTHING,
                        "Stream " + stream + " is paused already, or no relay has met it yet. See: postrider status");
            }
            console.say("Stream " + stream + " paused.");
            return Exit.DONE;
        }
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Let a paused stream go on.")
    static final class Resume implements Callable<Integer> {
        private final Console console;

        @Parameters(paramLabel = "STREAM")
        private String stream = "";

        @Mixin
        private Signature signature = new Signature();

        Resume(Console console) {
            this.console = console;
        }

        @Override
        public Integer call() {
            boolean changed = Streams.of(
                            console.access().dataSource(), console.access().tables())
                    .resume(stream, signature.actor());
            if (!changed) {
                throw new Refusal(Exit.NOTHING, "Stream " + stream + " is not paused. See: postrider status");
            }
            console.say("Stream " + stream + " resumed.");
            return Exit.DONE;
        }
    }
}
