// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** Starts a postmaster on a data directory and waits until it accepts connections. */
record PostmasterLaunch(PostgresBinaries binaries, ServerAccount account, Path data, Path log) {
    private static final int LOG_TAIL = 4_000;

    OsProcess run(int port, Map<String, String> settings, Consumer<OsProcess> started) {
        List<String> command = new ArrayList<>(List.of(
                binaries.program("postgres").toString(),
                "-D",
                data.toString(),
                "-p",
                Integer.toString(port),
                "-h",
                "127.0.0.1",
                "-k",
                ""));
        settings.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
        ProcessBuilder builder = new ProcessBuilder(account.command(command))
                .directory(new File("/tmp"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            OsProcess launcher = new OsProcess(process.pid());
            started.accept(launcher);
            OsProcess postmaster = awaitPid(launcher);
            started.accept(postmaster);
            return postmaster;
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL could not be started from " + command.get(0), e);
        }
    }

    /** The id in its pid file: with su the process that was started is not the server itself. */
    private OsProcess awaitPid(OsProcess launcher) throws IOException {
        while (true) {
            boolean gone = launcher.isGone();
            Path file = data.resolve("postmaster.pid");
            if (Files.exists(file)) {
                List<String> lines = Files.readAllLines(file);
                // The port is the fourth line; once it is there, the first is complete.
                if (lines.size() >= 4) {
                    return new OsProcess(Long.parseLong(lines.get(0).strip()));
                }
            }
            if (gone) {
                throw failed("ended while it started");
            }
            Pause.millis(5);
        }
    }

    void awaitReady(OsProcess postmaster, DataSource source, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            try (Connection ready = source.getConnection()) {
                ready.getMetaData();
                return;
            } catch (SQLException e) {
                if (postmaster.isGone()) {
                    throw failed("ended while it started");
                }
                if (System.nanoTime() - deadline > 0) {
                    throw failed(
                            "did not accept connections within " + limit.toSeconds() + " s (" + e.getMessage() + ")");
                }
            }
            Pause.millis(20);
        }
    }

    private IllegalStateException failed(String how) {
        String text;
        try {
            text = Files.readString(log).strip();
        } catch (IOException e) {
            text = "(no log: " + e.getMessage() + ")";
        }
        return new IllegalStateException(
                "PostgreSQL " + how + ". The end of its log: " + text.substring(Math.max(0, text.length() - LOG_TAIL)));
    }
}
