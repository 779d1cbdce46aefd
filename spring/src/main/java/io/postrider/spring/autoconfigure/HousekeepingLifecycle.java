// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.ops.Housekeeper;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Looks for what people must be told, and forgets what consumers processed long ago, while the application runs. */
public final class HousekeepingLifecycle implements SmartLifecycle {
    private final Chores chores;
    private @Nullable Housekeeper running;

    HousekeepingLifecycle(Chores chores) {
        this.chores = chores;
    }

    @Override
    public synchronized void start() {
        if (running == null) {
            // A housekeeper runs once, a context may be stopped and started.
            Optional<Housekeeper> wanted = chores.ofApplication();
            wanted.ifPresent(Housekeeper::start);
            running = wanted.orElse(null);
        }
    }

    @Override
    public synchronized void stop() {
        Housekeeper before = running;
        running = null;
        if (before != null) {
            before.close();
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return running != null;
    }

    /** Before the web server starts, and after it has stopped. */
    @Override
    public int getPhase() {
        return 0;
    }
}
