// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.cli.config.ConfigException;
import io.postrider.cli.config.ServeConfig;
import io.postrider.cli.log.LineLogs;
import io.postrider.cli.log.LogSettings;
import io.postrider.cli.serve.RelayServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        description = {
            "Run relays, housekeeping, alerts and dashboards as a YAML file describes them, until a signal ends it.",
            "Example: postrider serve --config postrider.yaml"
        })
final class ServeCommand implements Callable<Integer> {
    private static final int PATIENCE_MILLIS = 5_000;

    private final Console console;

    @Option(names = "--check", description = "Look for mistakes in the file without connecting to anything, and end.")
    private boolean check;

    @Option(names = "--probe", description = "Ask the server that runs here by this file whether it is live, and end.")
    private boolean probe;

    @Option(names = "--print-example", description = "Print a file with every key, and end.")
    private boolean example;

    ServeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (example) {
            console.out().print(example());
            return Exit.DONE;
        }
        Path file = console.access()
                .configFile()
                .orElseThrow(() -> new Refusal(
                        Exit.USAGE, "No file is given. Use --config postrider.yaml; --print-example shows one."));
        ServeConfig config;
        try {
            config = ServeConfig.read(file, console::environment);
        } catch (ConfigException e) {
            e.problems().forEach(each -> console.remark("postrider: " + each));
            return Exit.USAGE;
        }
        if (check) {
            console.say(
                    file + " is fine: " + String.join(", ", config.databases().keySet()) + ".");
            return Exit.DONE;
        }
        return probe ? probe(config.server()) : run(config);
    }

    /** For a container that has nothing to ask with but this program. */
    private Integer probe(ServeConfig.Http server) {
        String host = server.host().equals("0.0.0.0") || server.host().equals("::") ? "127.0.0.1" : server.host();
        URI address = URI.create(
                "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + server.port() + RelayServer.LIVE);
        try {
            HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection(Proxy.NO_PROXY);
            connection.setConnectTimeout(PATIENCE_MILLIS);
            connection.setReadTimeout(PATIENCE_MILLIS);
            int status = connection.getResponseCode();
            console.say(address + " answers " + status + ".");
            return status == HttpURLConnection.HTTP_OK ? Exit.DONE : Exit.FAILED;
        } catch (IOException e) {
            throw new Refusal(Exit.FAILED, address + " does not answer: " + e.getMessage() + ".");
        }
    }

    private static Integer run(ServeConfig config) throws InterruptedException {
        LineLogs.use(LogSettings.forServer(
                config.log().format() == ServeConfig.LogFormat.JSON,
                config.log().level(),
                config.log().loggers()));
        RelayServer server = RelayServer.start(config);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            server.close();
                            // A signal that was obeyed is no failure; without this the code would be 143.
                            Runtime.getRuntime().halt(Exit.DONE);
                        },
                        "postrider-stop"));
        // Only a signal ends it.
        new CountDownLatch(1).await();
        return Exit.DONE;
    }

    static String example() {
        try (InputStream in = ServeCommand.class.getResourceAsStream("postrider.yaml")) {
            if (in == null) {
                throw new IllegalStateException("The example is missing from this jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("The example cannot be read from this jar", e);
        }
    }
}
