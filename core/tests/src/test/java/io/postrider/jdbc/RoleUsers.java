// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.table.Schema;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** One user for each of the roles. Users belong to the server, so that databases of several tests have the same. */
record RoleUsers(TestDatabase database) {

    static RoleUsers of(TestDatabase database) {
        database.execute(Schema.roles());
        for (String role : List.of("writer", "committer", "relay", "operator", "editor", "viewer", "consumer")) {
            database.execute("DO $$ BEGIN IF to_regrole('a_" + role + "') IS NULL THEN CREATE USER a_" + role
                    + "; END IF; END $$; GRANT postrider_" + role + " TO a_" + role);
        }
        return new RoleUsers(database);
    }

    DataSource as(String role) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(((PGSimpleDataSource) database.dataSource()).getUrl());
        source.setUser("a_" + role);
        return source;
    }
}
