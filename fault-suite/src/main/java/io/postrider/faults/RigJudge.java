// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.testkit.KafkaTap;
import io.postrider.testkit.LedgerReport;
import io.postrider.testkit.LedgerWriters;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;

/** Says at the end of a test whether what must always hold did: by the ledger, and by what else may not happen. Thread-safe. */
final class RigJudge implements AutoCloseable {
    /** What may not happen unless the test means it to. */
    enum Allowed {
        ATTEMPTS,
        FAILED_WRITERS
    }

    private final Rig rig;
    private final KafkaTap tap;
    private final SessionWatch sessions;
    private final List<LedgerWriters> writers = new CopyOnWriteArrayList<>();
    private final Set<Allowed> allowed = Collections.synchronizedSet(EnumSet.noneOf(Allowed.class));

    RigJudge(Rig rig, KafkaTap tap) {
        this.rig = rig;
        this.tap = tap;
        this.sessions = new SessionWatch(rig.dataSource(), RigUsers.RELAY);
    }

    void allow(Allowed what) {
        allowed.add(what);
    }

    void watch(LedgerWriters running) {
        writers.add(running);
    }

    LedgerReport check(Function<LedgerReport, String> summary, Consumer<LedgerReport> demand) {
        boolean delivered = rig.ledger().awaitDelivered(rig.log(), Rig.PATIENCE);
        boolean settled = delivered && isEmptyInTime();
        boolean readToTheEnd = readsToTheEnd();
        LedgerReport report = rig.ledger().check(rig.log());
        rig.result(summary.apply(report));
        try {
            if (!readToTheEnd) {
                throw new AssertionError("the topics were not read to their end");
            }
            demand.accept(report);
            assertNothingElse();
        } catch (AssertionError e) {
            throw new AssertionError(
                    rig.test() + ", seed " + rig.seed() + ", left " + left() + ": " + e.getMessage(), e);
        }
        if (!settled) {
            throw new AssertionError(rig.test() + ", seed " + rig.seed() + ": delivered, but not settled after "
                    + Rig.PATIENCE + ": " + left());
        }
        return report;
    }

    /** What nobody expects, such as a duplicate, may still be on its way to the log. */
    private boolean readsToTheEnd() {
        try {
            tap.awaitEnd(Rig.PATIENCE);
            return true;
        } catch (AssertionError e) {
            // What is known is told all the same.
            return false;
        }
    }

    private void assertNothingElse() {
        long attempts = rig.number("SELECT count(*) FROM outbox_attempt");
        if (attempts > 0 && !allowed.contains(Allowed.ATTEMPTS)) {
            throw new AssertionError(attempts + " attempts were counted, though nothing was refused");
        }
        sessions.assertModest();
        if (!allowed.contains(Allowed.FAILED_WRITERS) && writers.stream().anyMatch(each -> each.broken() > 0)) {
            throw new AssertionError("transactions failed in a database that nobody broke: " + writers);
        }
    }

    private boolean isEmptyInTime() {
        long deadline = System.nanoTime() + Rig.PATIENCE.toNanos();
        while (rig.number("SELECT count(*) FROM outbox_event") > 0) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            Rig.pause(Duration.ofMillis(20));
        }
        return true;
    }

    /** What is still in the table: how many in which state, of which key, and the first of them. */
    private List<String> left() {
        return rig.texts("SELECT concat_ws(' ', count(*), status, event_key, 'from', min(id), max(last_error_code),"
                + " 'with', max(unclean_count), 'deaths')"
                + " FROM outbox_event GROUP BY status, event_key ORDER BY min(id) LIMIT 10");
    }

    @Override
    public void close() {
        sessions.close();
    }
}
