// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.serve;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does the same to several things at the same time, each in a thread, and waits for all. */
final class Together {
    private static final Logger log = LoggerFactory.getLogger(Together.class);

    private Together() {}

    /** What fails is logged and keeps no other from being done. */
    static <T> void run(String name, Collection<T> things, Consumer<T> work) {
        List<Thread> threads = new ArrayList<>();
        things.forEach(each -> {
            Thread thread = new Thread(
                    () -> {
                        try {
                            work.accept(each);
                        } catch (RuntimeException e) {
                            log.warn("{} failed", name, e);
                        }
                    },
                    name);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        });
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
