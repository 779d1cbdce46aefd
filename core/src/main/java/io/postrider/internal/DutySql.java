// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import io.postrider.table.TableNames;

/** Every statement about what one process at a time does for all. Time is the database's. */
public final class DutySql {
    public final String take;
    public final String done;

    public DutySql(TableNames tables) {
        take = TAKE.replace("{duty}", tables.duty());
        done = DONE.replace("{duty}", tables.duty());
    }

    /** What nobody has ever done is due. */
    private static final String TAKE = """
            INSERT INTO {duty} AS d (duty, holder, lease_until, due_at)
            VALUES (?, ?, clock_timestamp() + ? * interval '1 second', clock_timestamp())
            ON CONFLICT (duty) DO UPDATE
            SET holder = EXCLUDED.holder, revision = d.revision + 1, lease_until = EXCLUDED.lease_until
            WHERE d.due_at <= clock_timestamp() AND d.lease_until <= clock_timestamp()
            RETURNING d.revision, clock_timestamp()
            """;

    private static final String DONE = """
            UPDATE {duty} SET lease_until = clock_timestamp(), due_at = ? WHERE duty = ? AND revision = ?
            """;
}
