// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.StreamSettings.History;
import io.postrider.postgres.CommitSignal;
import io.postrider.relay.Bell;
import io.postrider.relay.Relay;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A relay in a JVM of its own, started and closed any number of times by lines on its standard input.
 *
 * <p>It prints {@code ready}; after {@code start} it prints {@code published N} whenever N has changed; after
 * {@code stop} it prints {@code stopped}.
 */
public final class RelayMain {
    static final String READY = "ready";
    static final String START = "start";
    static final String STOP = "stop";
    static final String PUBLISHED = "published ";
    static final String STOPPED = "stopped ";

    private static final int LOOK_EVERY_MILLIS = 10;

    private RelayMain() {}

    /** Takes the JDBC URL, the bootstrap servers, the history mode and the number of loops. */
    public static void main(String[] args) throws IOException, InterruptedException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(READY);
        int round = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals(START)) {
                Bell bell = new Bell();
                Relay relay = Relays.build(dataSource, args[1], History.valueOf(args[2]))
                        .loops(Integer.parseInt(args[3]))
                        .wokenBy(bell)
                        .build();
                CommitSignal signal =
                        CommitSignal.of(dataSource, bell).onlyReceives().start();
                try (relay;
                        signal) {
                    relay.start();
                    watchUntilStop(relay, in);
                }
                round++;
                System.out.println(STOPPED + round);
            }
        }
    }

    private static void watchUntilStop(Relay relay, BufferedReader in) throws IOException, InterruptedException {
        long last = 0;
        @Nullable String line = "";
        while (line != null && !line.equals(STOP)) {
            long published = relay.publishedCount();
            if (published != last) {
                System.out.println(PUBLISHED + published);
                last = published;
            }
            Thread.sleep(LOOK_EVERY_MILLIS);
            line = in.ready() ? in.readLine() : "";
        }
    }
}
