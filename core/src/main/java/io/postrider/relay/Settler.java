// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import java.util.List;
import java.util.function.Consumer;

/**
 * Settles beside what its {@link Intake} reads. To settle is to record a fact, so it may overlap with everything; what is being
 * settled stays handed out until the intake is told of it, and so is not read again. For the thread of its loop.
 */
public interface Settler extends AutoCloseable {

    /**
     * Begins to do what {@link Intake#settle} does, but for forgetting that they were handed out.
     *
     * @param told called once, by any thread: whether they are settled for sure
     * @return whether it took them; if not, it cannot work now
     */
    boolean offer(List<Delivery> published, Consumer<Boolean> told);

    /** It gets nothing more; what it has begun is ended. */
    @Override
    void close();
}
