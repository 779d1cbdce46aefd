// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import io.postrider.internal.OverviewSql;
import io.postrider.internal.Rows;
import io.postrider.table.TableNames;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** Who delivers. A relay that stopped leaves no row; one that died leaves its row until another declares it dead. Thread-safe. */
public final class Relays {
    private final Rows rows;
    private final OverviewSql sql;

    private Relays(DataSource dataSource, TableNames tables) {
        this.rows = new Rows(dataSource);
        this.sql = new OverviewSql(tables);
    }

    public static Relays of(DataSource dataSource) {
        return of(dataSource, TableNames.ofDefaults());
    }

    public static Relays of(DataSource dataSource, TableNames tables) {
        return new Relays(dataSource, tables);
    }

    /**
     * One relay, as it said when it last renewed its lease.
     *
     * @param wants SHARDS: it delivers; CLAIMS: it delivers competing streams; REST: it is paused, or sends only what its own
     *     process commits; DRAIN: one pass
     * @param shards how many of the 256 parts of all keys are its own
     * @param alive whether its lease has not run out, on the database's clock
     * @param silentFor since its last renewal; it renews every half second
     * @param closed streams whose destination does not answer it
     * @param streams the competing streams that it delivers
     * @param version of the library that it runs; empty if it is one that does not say
     */
    public record Member(
            long id,
            String name,
            String group,
            String wants,
            int shards,
            int inFlight,
            long published,
            List<String> closed,
            Instant startedAt,
            boolean alive,
            Duration silentFor,
            Duration lease,
            List<String> streams,
            Optional<String> version) {

        /** Whether it is alive and delivers this stream; one that nobody has met yet goes to the default group. */
        public boolean serves(Backlog.Stream stream) {
            if (!alive) {
                return false;
            }
            return stream.competing()
                    ? wants.equals("CLAIMS") && streams.contains(stream.name())
                    : wants.equals("SHARDS") && group.equals(stream.group().orElse("default"));
        }
    }

    /** All that have a place, by group and name. */
    public List<Member> members() {
        return rows.read("the relays", sql.relays, Relays::member);
    }

    /**
     * One of the 256 parts of all keys.
     *
     * @param owner the relay that delivers it; empty if none does
     * @param unclean owners in a row that ended without a release
     */
    public record Shard(String group, int shard, Optional<Owner> owner, long epoch, int unclean) {}

    /** A relay that owns something. */
    public record Owner(long id, String name) {}

    /** All shards of all groups, in order. */
    public List<Shard> shards() {
        return rows.read("the shards", sql.shards, Relays::shard);
    }

    private static Shard shard(ResultSet row) throws SQLException {
        Optional<Owner> owner = Optional.empty();
        String name = row.getString(4);
        if (name != null) {
            owner = Optional.of(new Owner(row.getLong(3), name));
        }
        return new Shard(row.getString(1), row.getInt(2), owner, row.getLong(5), row.getInt(6));
    }

    private static Member member(ResultSet row) throws SQLException {
        Array closed = row.getArray(8);
        return new Member(
                row.getLong(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getInt(5),
                row.getInt(6),
                row.getLong(7),
                List.of((String[]) closed.getArray()),
                Rows.time(row, 9),
                row.getBoolean(10),
                Rows.maybeSeconds(row, 11).orElse(Duration.ZERO),
                Duration.ofMillis(row.getLong(12)),
                List.of((String[]) row.getArray(13).getArray()),
                Optional.ofNullable(row.getString(14)));
    }
}
