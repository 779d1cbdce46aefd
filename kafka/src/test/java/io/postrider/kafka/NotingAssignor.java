// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.jspecify.annotations.Nullable;

/** Part of a real consumer that is asked whenever its consumer joins its group, first or anew. */
public final class NotingAssignor extends CooperativeStickyAssignor {
    static final AtomicInteger JOINS = new AtomicInteger();

    @Override
    public @Nullable ByteBuffer subscriptionUserData(Set<String> topics) {
        JOINS.incrementAndGet();
        return super.subscriptionUserData(topics);
    }
}
