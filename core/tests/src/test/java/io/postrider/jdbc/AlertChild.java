// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import io.postrider.ops.Alert;
import io.postrider.ops.AlertChannel;
import io.postrider.ops.Alerts;
import io.postrider.ops.WebhookChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/** Looks once in a process of its own, and stands still where it shall be killed. */
final class AlertChild {
    private AlertChild() {}

    /** Takes the database, its user, the webhook, and the moment at which to stand still: claimed, told or never. */
    public static void main(String[] args) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(args[0]);
        source.setUser(args[1]);
        WebhookChannel webhook = AlertRig.channel(args[2]);
        Alerts.builder(source)
                .tell(new AlertChannel() {
                    @Override
                    public String name() {
                        return webhook.name();
                    }

                    @Override
                    public void tell(Alert alert) throws IOException {
                        reached("claimed", args[3]);
                        webhook.tell(alert);
                        reached("told", args[3]);
                    }
                })
                .claim(Duration.ofSeconds(2))
                .newsEvery(Duration.ZERO)
                .build()
                .look();
        System.out.println("looked");
    }

    private static void reached(String moment, String last) {
        System.out.println(moment);
        if (moment.equals(last)) {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
