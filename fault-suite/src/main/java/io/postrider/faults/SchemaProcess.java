// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.table.Schema;
import io.postrider.table.SchemaMode;
import io.postrider.testkit.ChildJvm;
import java.time.Duration;
import java.util.OptionalInt;
import org.postgresql.ds.PGSimpleDataSource;

/** The migrator in a process of its own, so that it can be that of another version. */
public final class SchemaProcess {
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private SchemaProcess() {}

    /** Takes the URL of the database. */
    public static void main(String[] args) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(args[0]);
        Schema.of(source).apply(SchemaMode.MIGRATE);
    }

    /** Starts it with these classes. */
    static ChildJvm start(String classpath, String url) {
        return ChildJvm.of(SchemaProcess.class).classpath(classpath).args(url).start();
    }

    static void awaitDone(ChildJvm migrator) {
        OptionalInt code = migrator.awaitExit(LIMIT);
        if (code.isEmpty() || code.getAsInt() != 0) {
            throw new AssertionError(
                    "The migration failed (exit code " + code + "): " + String.join("\n", migrator.lines()));
        }
    }
}
