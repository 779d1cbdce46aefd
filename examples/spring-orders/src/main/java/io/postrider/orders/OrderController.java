// SPDX-License-Identifier: Apache-2.0
package io.postrider.orders;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Orders by HTTP. */
@RestController
@RequestMapping("/orders")
class OrderController {
    private final OrderService service;

    OrderController(OrderService service) {
        this.service = service;
    }

    record NewOrder(@Nullable String item, int quantity) {}

    record OrderView(long id, String item, int quantity, boolean paid) {
        static OrderView of(Order order) {
            return new OrderView(order.id(), order.item(), order.quantity(), order.isPaid());
        }
    }

    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    OrderView place(@RequestBody NewOrder wanted) {
        String item = wanted.item();
        if (item == null || wanted.quantity() < 1) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "An order needs an item, and a quantity of 1 or more.");
        }
        return OrderView.of(service.place(item, wanted.quantity()));
    }

    @PostMapping("/{id}/pay")
    ResponseEntity<OrderView> pay(@PathVariable long id) {
        return ResponseEntity.of(service.pay(id).map(OrderView::of));
    }

    @GetMapping
    List<OrderView> all() {
        return service.all().stream().map(OrderView::of).toList();
    }

    @ExceptionHandler
    ProblemDetail refused(OrderConflictException e) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, e.getMessage());
    }
}
