// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A process of this machine, known by its id. */
record OsProcess(long pid) {

    /**
     * Sends a signal such as {@code KILL}, {@code STOP} or {@code CONT}; does nothing if the process is gone.
     *
     * <p>Through the shell, whose {@code kill} is built in, because Java itself knows only TERM and KILL.
     */
    void signal(String name) {
        if (!isGone()) {
            Command.run(
                    Path.of("/"), List.of("/bin/sh", "-c", "kill -s " + name + " " + pid + " || ! kill -s 0 " + pid));
        }
    }

    /** Stops it, and returns when none of its threads runs any more: on a busy machine the signal takes its time. */
    void stop() {
        signal("STOP");
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!isGone() && !isStopped() && System.nanoTime() - deadline < 0) {
            Pause.millis(1);
        }
    }

    private boolean isStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            return threads.allMatch(thread -> state(thread.resolve("stat")) == 'T');
        } catch (IOException e) {
            // Where there is no /proc, the signal has to be trusted.
            return true;
        }
    }

    /** The letter that the kernel gives the state of a process or thread; blank if it cannot be read. */
    private static char state(Path file) {
        try {
            String stat = Files.readString(file);
            int name = stat.lastIndexOf(')');
            return name > 0 && stat.length() > name + 2 ? stat.charAt(name + 2) : ' ';
        } catch (IOException e) {
            return ' ';
        }
    }

    Optional<OsProcess> parent() {
        return ProcessHandle.of(pid).flatMap(ProcessHandle::parent).map(parent -> new OsProcess(parent.pid()));
    }

    List<OsProcess> children() {
        return ProcessHandle.of(pid)
                .map(handle -> handle.children()
                        .map(child -> new OsProcess(child.pid()))
                        .toList())
                .orElse(List.of());
    }

    /** Whether it has ended; one that nobody has waited for yet (a zombie) has ended too. */
    boolean isGone() {
        if (!ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)) {
            return true;
        }
        return state(Path.of("/proc/" + pid + "/stat")) == 'Z';
    }

    /** Waits until it is gone; false if it is still there after this time. */
    boolean awaitGone(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!isGone()) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            Pause.millis(5);
        }
        return true;
    }
}
