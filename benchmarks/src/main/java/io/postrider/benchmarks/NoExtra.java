// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.sql.Connection;

/** The business row alone. */
final class NoExtra implements Extra {
    @Override
    public String name() {
        return "base";
    }

    @Override
    public void in(Connection connection, int number) {}
}
