// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.table.TableNames;
import io.postrider.testkit.contract.TableContract;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;

class TableContractTest {
    private static final TestDatabase database = TestDatabase.empty();

    @Nested
    class InTheFirstSchemaOfTheSearchPath extends TableContract {
        @Override
        protected DataSource dataSource() {
            database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
            return database.dataSource();
        }
    }

    @Nested
    class InASchemaOfItsOwn extends TableContract {
        @Override
        protected DataSource dataSource() {
            database.execute("DROP SCHEMA IF EXISTS messaging CASCADE");
            return database.dataSource();
        }

        @Override
        protected TableNames tables() {
            return new TableNames("messaging");
        }
    }
}
