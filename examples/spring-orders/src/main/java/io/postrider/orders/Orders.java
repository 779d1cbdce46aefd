// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import jakarta.persistence.LockModeType;
import java.util.List;
import java.util.Optional;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.repository.Repository;

/** All orders. */
interface Orders extends Repository<Order, Long> {

    Order save(Order order);

    List<Order> findAllByOrderById();

    /** Locked until the transaction ends: two payments of one order happen one after the other, and so do their events. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    Optional<Order> findById(long id);
}
