// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.table.Schema;
import io.postrider.testkit.PostgresServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The users of a rig's database: its writers, relays and consumers have the rights of the product's own roles, and no others. */
final class RigUsers {
    private static final String WRITER = "rig_writer";
    private static final String COMMITTER = "rig_committer";
    static final String RELAY = "rig_relay";
    private static final String CONSUMER = "rig_consumer";

    private RigUsers() {}

    /** Makes them, after the tables; one at a time, since users belong to the whole server. */
    static synchronized void grant(DataSource owner) {
        try (Connection connection = owner.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(script());
            for (String user : new String[] {WRITER, COMMITTER, RELAY, CONSUMER}) {
                statement.execute("DO $$ BEGIN CREATE USER " + user
                        + "; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$");
                statement.execute("GRANT " + user.replace("rig", "postrider") + " TO " + user);
            }
            statement.execute("GRANT SELECT, INSERT, UPDATE ON ledger, ledger_key, ledger_business TO " + WRITER + ", "
                    + COMMITTER);
        } catch (SQLException e) {
            throw new IllegalStateException("The users of the rig could not be made", e);
        }
    }

    static PGSimpleDataSource writer(PostgresServer.Database database) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url(database, WRITER));
        return source;
    }

    static String committerUrl(PostgresServer.Database database) {
        return url(database, COMMITTER);
    }

    static String relayUrl(PostgresServer.Database database) {
        return url(database, RELAY);
    }

    static String consumerUrl(PostgresServer.Database database) {
        return url(database, CONSUMER);
    }

    private static String url(PostgresServer.Database database, String user) {
        return database.url().replaceFirst("user=[a-z]+", "user=" + user);
    }

    private static String script() {
        try (InputStream in = Schema.class.getResourceAsStream("postgresql/roles.sql")) {
            if (in == null) {
                throw new IllegalStateException("The script of the roles is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("The script of the roles cannot be read", e);
        }
    }
}
