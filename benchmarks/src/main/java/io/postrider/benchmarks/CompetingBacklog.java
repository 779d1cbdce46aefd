// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.jdbc.CompetingFeed;
import io.postrider.jdbc.StreamSettings;
import io.postrider.relay.Relay;

/**
 * A worker of a competing feed in this JVM.
 *
 * @param notDue how many events of the same stream are older and due tomorrow
 */
record CompetingBacklog(Rig rig, String name, int loops, int notDue) implements Backlog {
    private static final String FILL = """
            INSERT INTO outbox_event (stream, event_type, payload, due_at)
            SELECT '%s', 'OrderPlaced', decode(repeat(md5(n::text), 32), 'hex'), clock_timestamp() + interval '1 day'
            FROM generate_series(1, %d) AS n
            """;

    @Override
    public String[] tables() {
        return new String[] {"outbox_event", "outbox_history"};
    }

    @Override
    public void fillAhead() {
        rig.sql(FILL.formatted(Rig.TOPIC, notDue));
    }

    @Override
    public String countLeft() {
        return "SELECT count(*) - " + notDue + " FROM outbox_event";
    }

    @Override
    public long drain(int events) throws InterruptedException {
        rig.sql("DELETE FROM outbox_stream");
        CompetingFeed feed = CompetingFeed.builder(rig.dataSource())
                .streams(StreamSettings.of(Rig.TOPIC).withHistory(StreamSettings.History.OFF))
                .build();
        return OrderedBacklog.drain(Relay.from(feed), OrderedBacklog.NOWHERE, loops, events);
    }
}
