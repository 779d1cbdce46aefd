// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.util.List;
import java.util.Locale;

/** What a process does, and which streams it is fed with. */
enum Role {
    ORDER_EXECUTOR(Messages.TRADE_COMMANDS),
    NOTIFICATION(Messages.TRADE_EVENTS, Messages.BACKTEST_EVENTS),
    BACKTEST(Messages.BACKTEST_COMMANDS),
    SYSTEM(Messages.SYSTEM_EVENTS),
    /** With Kafka only: carries all streams there. */
    RELAY;

    private final List<String> streams;

    Role(String... streams) {
        this.streams = List.of(streams);
    }

    List<String> streams() {
        return streams;
    }

    /** As the name of a group. */
    String group() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Where Kafka keeps what it could not handle. */
    String deadLetterTopic() {
        return group() + ".dead";
    }
}
