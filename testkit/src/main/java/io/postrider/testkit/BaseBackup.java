// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import javax.sql.DataSource;

/**
 * A copy of the data of a running primary, as a standby that follows it; with SQL and files alone, since the archive on
 * the classpath has no pg_basebackup.
 */
record BaseBackup(DataSource primary, Path data, ServerAccount account) {
    /** What a standby makes for itself: the log that it gets from the primary, slots, and what is of one run only. */
    private static final Set<String> LEFT_EMPTY = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans");

    private static final Set<String> LEFT_OUT = Set.of("postmaster.pid", "postmaster.opts", "standby.signal");

    /**
     * Makes the copy.
     *
     * @param slot keeps on the primary what the standby has not yet got
     */
    void into(Path copy, String slot) {
        try (Connection connection = primary.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_create_physical_replication_slot('" + slot + "', true)");
            statement.execute("SELECT pg_backup_start('" + slot + "', true)");
            copyTo(copy);
            try (ResultSet rows = statement.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
                rows.next();
                write(copy.resolve("backup_label"), rows.getString(1));
            }
            write(copy.resolve("standby.signal"), "");
        } catch (SQLException e) {
            throw new IllegalStateException("No copy of the primary could be made: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException("No copy of the primary could be made in " + copy, e);
        }
    }

    private void write(Path file, String text) throws IOException {
        Files.writeString(file, text);
        account.give(file);
    }

    private void copyTo(Path copy) throws IOException {
        Files.walkFileTree(data, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                    throws IOException {
                take(directory);
                Path name = data.relativize(directory);
                return LEFT_EMPTY.contains(name.toString()) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (!LEFT_OUT.contains(data.relativize(file).toString())) {
                    take(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                return gone(e);
            }

            private void take(Path path) throws IOException {
                Path to = copy.resolve(data.relativize(path).toString());
                try {
                    Files.copy(path, to, StandardCopyOption.COPY_ATTRIBUTES);
                    account.give(to);
                } catch (IOException e) {
                    gone(e);
                }
            }

            /** A table that is dropped meanwhile takes its files along; the log tells the standby of it. */
            private FileVisitResult gone(IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }
        });
    }
}
