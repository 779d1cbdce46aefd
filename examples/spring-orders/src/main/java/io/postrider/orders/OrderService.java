// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import io.postrider.Outbox;
import io.postrider.spring.EventJson;
import java.util.List;
import java.util.Optional;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Changes orders and tells the world, in one transaction: both happen, or neither. */
@Service
public class OrderService {
    static final String STREAM = "order-events";

    private final Orders orders;
    private final Stock stock;
    private final Outbox outbox;
    private final EventJson json;
    private final ApplicationEventPublisher events;

    OrderService(Orders orders, Stock stock, Outbox outbox, EventJson json, ApplicationEventPublisher events) {
        this.orders = orders;
        this.stock = stock;
        this.outbox = outbox;
        this.json = json;
        this.events = events;
    }

    /**
     * Saves an order and appends {@code OrderPlaced}.
     *
     * @throws OrderConflictException if there is not enough in stock: after the event was appended, so that you can see
     *     that the rollback takes it back
     */
    @Transactional
    public Order place(String item, int quantity) {
        Order order = orders.save(new Order(item, quantity));
        outbox.append(json.event(STREAM, "OrderPlaced", new OrderPlaced(order.id(), item, quantity))
                .aggregate("Order", order.id()) // the key: events of one order arrive in order
                .build());
        stock.take(item, quantity);
        return order;
    }

    /** Marks an order as paid and publishes {@link OrderPaid}; empty if there is no such order. */
    @Transactional
    public Optional<Order> pay(long id) {
        Optional<Order> found = orders.findById(id);
        found.ifPresent(order -> {
            order.pay();
            events.publishEvent(new OrderPaid(order.id()));
        });
        return found;
    }

    /** All of them, the oldest first. */
    @Transactional(readOnly = true)
    public List<Order> all() {
        return orders.findAllByOrderById();
    }
}
