// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** Customers who order transfers at a steady rate until enough are committed; some order more than they have. */
final class Traffic implements AutoCloseable {
    static final int THREADS = 8;
    private static final int ORDINARY_CENTS = 100_00;
    private static final int ONE_IN_TOO_LARGE = 20;

    private final TransferService service;
    private final int events;
    private final int rate;
    private final AtomicInteger tickets = new AtomicInteger();
    private final LongAdder committed = new LongAdder();
    private final LongAdder rolledBack = new LongAdder();
    private final long start = System.nanoTime();
    private volatile boolean stopped;

    Traffic(TransferService service, int events, int rate) {
        this.service = service;
        this.events = events;
        this.rate = rate;
    }

    void start() {
        for (int i = 1; i <= THREADS; i++) {
            Thread thread = new Thread(this::order, "customers-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    long committed() {
        return committed.sum();
    }

    long rolledBack() {
        return rolledBack.sum();
    }

    boolean isDone() {
        return committed() == events;
    }

    private void order() {
        RandomGenerator random = RandomGenerator.getDefault();
        for (int ticket = tickets.getAndIncrement(); ticket < events; ticket = tickets.getAndIncrement()) {
            awaitTurn(ticket);
            while (!stopped && !tryTransfer(random)) {
                rolledBack.increment();
            }
            if (stopped) {
                return;
            }
            committed.increment();
        }
    }

    private boolean tryTransfer(RandomGenerator random) {
        int debtor = random.nextInt(Bank.ACCOUNTS);
        int creditor = (debtor + random.nextInt(1, Bank.ACCOUNTS)) % Bank.ACCOUNTS;
        boolean tooLarge = random.nextInt(ONE_IN_TOO_LARGE) == 0;
        long cents = tooLarge ? Bank.ALL_CENTS : random.nextInt(1, ORDINARY_CENTS);
        try {
            service.transfer(debtor, creditor, cents);
            return true;
        } catch (TransferService.InsufficientFundsException e) {
            return false;
        } catch (SQLException e) {
            throw new IllegalStateException("A transfer failed: " + e.getMessage(), e);
        }
    }

    private void awaitTurn(int ticket) {
        long due = start + ticket * Duration.ofSeconds(1).toNanos() / rate;
        for (long left = due - System.nanoTime(); left > 0 && !stopped; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public void close() {
        stopped = true;
    }
}
