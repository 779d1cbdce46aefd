// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** So many of an item, paid or not. */
@Entity
@Table(name = "customer_order")
public class Order {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private @Nullable Long id;

    private String item;
    private int quantity;
    private boolean paid;

    @SuppressWarnings("NullAway.Init") // JPA fills it
    protected Order() {}

    Order(String item, int quantity) {
        this.item = item;
        this.quantity = quantity;
    }

    /** Known once it is saved. */
    long id() {
        return Objects.requireNonNull(id, "id");
    }

    String item() {
        return item;
    }

    int quantity() {
        return quantity;
    }

    boolean isPaid() {
        return paid;
    }

    void pay() {
        if (paid) {
            throw new OrderConflictException("Order " + id() + " is paid already.");
        }
        paid = true;
    }
}
