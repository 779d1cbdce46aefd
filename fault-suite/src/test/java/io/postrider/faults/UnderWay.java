// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import io.postrider.relay.Relay;
import io.postrider.relay.RelayListener;
import java.util.concurrent.atomic.AtomicInteger;

/** How many sends of one relay of this process have no answer yet, at most. Thread-safe. */
final class UnderWay {
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    private UnderWay() {}

    /** Starts the relay; ended with the rig. */
    static UnderWay start(Rig rig, RelaySetup setup) {
        UnderWay sends = new UnderWay();
        Relay relay = rig.closing(RelayProcess.relay(setup, new Trap(sends::count), new RelayListener() {}));
        relay.start();
        return sends;
    }

    private void count(Failpoint reached) {
        if (reached.moment() == Failpoint.Moment.BEFORE && reached.place() == Place.SEND) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
        } else if (reached.moment() == Failpoint.Moment.BEFORE && reached.place() == Place.ANSWER) {
            now.decrementAndGet();
        }
    }

    int most() {
        return most.get();
    }
}
