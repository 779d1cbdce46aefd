// SPDX-License-Identifier: Apache-2.0
package io.postrider.trading;

import java.util.List;
import java.util.Locale;

/** What a process does, and which streams it is fed with. */
enum Role {
    ORDER_EXECUTOR,
    NOTIFICATION,
    BACKTEST,
    SYSTEM,
    /** With Kafka only: carries all streams there. */
    RELAY;

    List<String> streams() {
        return switch (this) {
            case ORDER_EXECUTOR -> List.of(Messages.TRADE_COMMANDS);
            case NOTIFICATION -> List.of(Messages.TRADE_EVENTS, Messages.BACKTEST_EVENTS);
            case BACKTEST -> List.of(Messages.BACKTEST_COMMANDS);
            case SYSTEM -> List.of(Messages.SYSTEM_EVENTS);
            case RELAY -> List.of();
        };
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
