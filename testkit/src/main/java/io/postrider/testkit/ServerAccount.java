// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The user that PostgreSQL runs as: the current one, or {@code nobody} if that is root, as which PostgreSQL refuses to
 * run.
 */
final class ServerAccount {
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
    private static final Path WORK = Path.of("/tmp");

    private final int uid;
    private final boolean setpriv;
    private final int serverUid;
    private final int serverGid;

    ServerAccount(int uid, boolean setpriv) {
        this.uid = uid;
        this.setpriv = setpriv;
        this.serverUid = uid == 0 ? nobody("-u") : uid;
        this.serverGid = uid == 0 ? nobody("-g") : -1;
    }

    static ServerAccount current() {
        return new ServerAccount(currentUid(), Files.isExecutable(SETPRIV));
    }

    private static int currentUid() {
        try {
            Path probe = Files.createTempFile("postrider-uid-", "");
            try {
                return (Integer) Files.getAttribute(probe, "unix:uid");
            } finally {
                Files.delete(probe);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The id of the current user is unknown", e);
        }
    }

    /** The user of this JVM. */
    int uid() {
        return uid;
    }

    private boolean isRoot() {
        return uid == 0;
    }

    /** This command as that user. */
    List<String> command(List<String> command) {
        if (!isRoot()) {
            return command;
        }
        if (setpriv) {
            // It exec()s, so that the process started here is the server itself.
            List<String> all = new ArrayList<>(List.of(
                    SETPRIV.toString(), "--reuid=" + serverUid, "--regid=" + serverGid, "--clear-groups", "--"));
            all.addAll(command);
            return all;
        }
        String line = command.stream()
                .map(word -> "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
        return List.of("su", "-s", "/bin/sh", "nobody", "-c", "exec " + line);
    }

    /** Runs this command as that user, in a directory that every user may enter. */
    String run(List<String> command) {
        return Command.run(WORK, command(command));
    }

    /** Makes that user the owner of the directory. */
    void give(Path directory) throws IOException {
        if (isRoot()) {
            Files.setAttribute(directory, "unix:uid", serverUid);
            Files.setAttribute(directory, "unix:gid", serverGid);
        }
    }

    private static int nobody(String which) {
        return Integer.parseInt(
                Command.run(WORK, List.of("id", which, "nobody")).strip());
    }
}
