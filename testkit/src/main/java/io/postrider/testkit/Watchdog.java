// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A shell that ends a process and removes a directory when this JVM dies, even by kill -9.
 *
 * <p>It waits on a pipe that only this JVM holds open; the end of the pipe is the news. Being a process of its own, it
 * changes nothing about the process that it guards, and also ends one that is stopped. Where there is {@code setsid} it
 * survives a signal to the whole process group of this JVM.
 */
final class Watchdog implements AutoCloseable {
    private static final String SCRIPT = """
            trap '' HUP INT TERM
            pid= signal= dir=
            while read -r what value; do
              case "$what" in
                guard) pid=${value%% *}; signal=${value#* } ;;
                forget) pid= ;;
                remove) dir=$value ;;
              esac
            done
            if [ -n "$pid" ]; then
              kill -s "$signal" "$pid"; kill -s CONT "$pid"
              i=0
              while kill -s 0 "$pid" && [ $i -lt 100 ]; do sleep 0.1; i=$((i + 1)); done
              kill -s KILL "$pid"
            fi
            if [ -n "$dir" ]; then rm -rf "$dir"; sleep 1; rm -rf "$dir"; fi
            """;
    private static final Path SETSID = Path.of("/usr/bin/setsid");

    private final Process shell;
    private final OutputStream pipe;

    private Watchdog(Process shell) {
        this.shell = shell;
        this.pipe = shell.getOutputStream();
    }

    static Watchdog start() {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(SETSID)) {
            command.add(SETSID.toString());
        }
        command.addAll(List.of("/bin/sh", "-c", SCRIPT));
        try {
            return new Watchdog(new ProcessBuilder(command)
                    .directory(Path.of("/").toFile())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("No shell could be started to watch over child processes", e);
        }
    }

    /** From now on this process gets that signal when this JVM dies, and KILL ten seconds later if it is still there. */
    void guard(long pid, String signal) {
        tell("guard " + pid + " " + signal);
    }

    /** The guarded process is gone: its id may soon be another's. */
    void forget() {
        tell("forget");
    }

    /** From now on this directory is removed when this JVM dies. */
    void remove(Path directory) {
        tell("remove " + directory);
    }

    private synchronized void tell(String line) {
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            pipe.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("The watchdog of a child process has died", e);
        }
    }

    /** Ends the watch without doing anything to what it guarded. */
    @Override
    public void close() {
        shell.destroyForcibly();
    }
}
