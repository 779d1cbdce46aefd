// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.InboxSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Who has processed events, by the inbox of this database. Thread-safe. */
public final class Consumers {
    private final Rows rows;
    private final InboxSql sql;

    private Consumers(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new InboxSql(tables);
    }

    public static Consumers of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Consumers of(DataSource dataSource, TableNames tables) {
        return new Consumers(dataSource, tables);
    }

    /**
     * One consumer.
     *
     * @param processed how many events it has on record, counted no further than the bound
     * @param newest when it processed the newest that was found, in the last pages and among the highest ids; nothing
     *     knows the order of times
     */
    public record Consumer(String name, long processed, Optional<Instant> newest) {}

    /** All of them by name; counts stop at the bound. */
    public List<Consumer> all(int bound) {
        return rows.read(
                "the consumers",
                sql.consumers,
                row -> new Consumer(row.getString(1), row.getLong(2), Rows.maybeTime(row, 3)),
                bound);
    }
}
