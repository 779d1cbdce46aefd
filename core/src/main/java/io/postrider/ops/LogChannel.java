// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells it in the log: one line each, ERROR where somebody must act now, else WARN, and INFO when it is over. */
public final class LogChannel implements AlertChannel {
    private static final Logger log = LoggerFactory.getLogger("io.postrider.alerts");

    @Override
    public String name() {
        return "log";
    }

    @Override
    public void tell(Alert alert) {
        String text = alert.text().replaceAll("\\p{Cc}", "?");
        if (alert.state() == Alert.State.ENDED) {
            log.info("{}: {}", alert.title(), text);
        } else if (alert.kind().urgent()) {
            log.error("{}: {}", alert.title(), text);
        } else {
            log.warn("{}: {}", alert.title(), text);
        }
    }
}
