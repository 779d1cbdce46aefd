// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import io.postrider.OutboxEvent;
import io.postrider.relay.RelayListener;
import java.time.Duration;

/** Has dead events copied besides. */
record WithCopies(RelayListener listener, RelayListener copies) implements RelayListener {

    @Override
    public void published(OutboxEvent event, Duration took) {
        listener.published(event, took);
    }

    @Override
    public void retrying(OutboxEvent event, int failed, Duration delay, String code, String message) {
        listener.retrying(event, failed, delay, code, message);
    }

    @Override
    public void dead(OutboxEvent event, int failed, String code, String message) {
        listener.dead(event, failed, code, message);
        copies.dead(event, failed, code, message);
    }

    @Override
    public void unknown(OutboxEvent event, int failed, String code, String message) {
        listener.unknown(event, failed, code, message);
    }

    @Override
    public void outageStarted(String stream, String code, String message) {
        listener.outageStarted(stream, code, message);
    }

    @Override
    public void outageEnded(String stream, Duration lasted) {
        listener.outageEnded(stream, lasted);
    }
}
