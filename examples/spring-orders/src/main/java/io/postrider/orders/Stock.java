// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** How many of each item are left; by plain SQL, in the same transaction as JPA. */
@Component
class Stock {
    private final JdbcClient jdbc;

    Stock(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    void take(String item, int quantity) {
        int changed = jdbc.sql(
                        "UPDATE stock SET remaining = remaining - :quantity WHERE item = :item AND remaining >= :quantity")
                .param("item", item)
                .param("quantity", quantity)
                .update();
        if (changed == 0) {
            throw new OrderConflictException("There are not " + quantity + " of " + item + " in stock.");
        }
    }
}
