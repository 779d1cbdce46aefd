// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            int name = stat.lastIndexOf(')');
            return name > 0 && stat.length() > name + 2 && stat.charAt(name + 2) == 'Z';
        } catch (IOException e) {
            return !ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
        }
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
