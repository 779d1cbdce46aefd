// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** How many statements a relay sends to the database while there is nothing to deliver. */
final class IdleScenario implements Scenario {
    private static final String METRIC = "statements_per_s";

    private final Options options;
    private final List<String> wanted;

    IdleScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(List.of("relay"));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        int seconds = options.number("seconds", 20);
        int loops = options.number("loops", 1);
        try (ChildRelay relay = new ChildRelay(rig, History.KEEP, loops, "256m")) {
            // Its transactions would count as the relay's.
            rig.sql("ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()");
            relay.start();
            List<Variant> variants = new ArrayList<>(List.of(new Idle(rig)));
            Results results = new Results("idle", METRIC, wanted, List.of());
            new Rounds(options.rounds(), seconds / 4, seconds).run(variants, results, progress);
            relay.stop();
            return results;
        }
    }

    private record Idle(Rig rig) implements Variant {
        @Override
        public String name() {
            return "relay";
        }

        /** Each of the relay's statements is a transaction of its own. */
        @Override
        public Map<String, Double> round(int seconds) throws Exception {
            Cpu.Reading before = rig.cpu().read();
            long transactions = transactions();
            Thread.sleep(seconds * 1000L);
            double sum = transactions() - transactions;
            Cpu.Reading after = rig.cpu().read();
            Map<String, Double> measured = new LinkedHashMap<>();
            measured.put(METRIC, sum / ((after.nanos() - before.nanos()) / 1e9));
            measured.put(Results.OTHER_LOAD, Cpu.cores(before, after).getOrDefault(Results.OTHER_LOAD, Double.NaN));
            return measured;
        }

        /** Asked in another database, so that asking does not count. */
        private long transactions() throws SQLException {
            try (Connection connection = rig.postgres().dataSource().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT xact_commit + xact_rollback FROM pg_stat_database"
                            + " WHERE datname = '" + rig.databaseName() + "'")) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }
}
