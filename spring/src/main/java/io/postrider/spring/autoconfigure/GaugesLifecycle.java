// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.micrometer.BacklogGauges;
import org.springframework.context.SmartLifecycle;

/** Asks the table while the application runs. */
record GaugesLifecycle(BacklogGauges gauges) implements SmartLifecycle {

    @Override
    public void start() {
        gauges.start();
    }

    @Override
    public void stop() {
        gauges.close();
    }

    @Override
    public boolean isRunning() {
        return gauges.isRunning();
    }
}
