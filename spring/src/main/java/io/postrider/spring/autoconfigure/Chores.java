// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.jdbc.JdbcInbox;
import io.postrider.ops.AlertChannel;
import io.postrider.ops.Alerts;
import io.postrider.ops.Condition;
import io.postrider.ops.DailyAt;
import io.postrider.ops.Endpoint;
import io.postrider.ops.Housekeeper;
import io.postrider.ops.LogChannel;
import io.postrider.ops.Retention;
import io.postrider.ops.SlackChannel;
import io.postrider.ops.WebhookChannel;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What the settings want to be done now and then: by relays and workers, or by a thread of the application. */
record Chores(
        Storage storage,
        PostriderProperties properties,
        JdbcInbox inbox,
        List<AlertChannel> ownChannels,
        @Nullable AlertProperties alertProperties) {

    /** For relays and workers, which take turns at it: makes and prunes the history. */
    Housekeeper ofRelays(DataSource dataSource) {
        HousekeepingProperties given = properties.housekeeping();
        Retention kept = retention(dataSource, given);
        if (!given.enabled()) {
            // What is delivered needs a place, whoever prunes.
            return builder(dataSource)
                    .every("partitions", Duration.ofHours(1), kept::prepare)
                    .build();
        }
        return builder(dataSource)
                .retention(
                        switch (given.oldHistory()) {
                            case DROP -> kept;
                            case DELETE -> kept.deleting();
                            case ARCHIVE -> kept.archiving();
                        })
                .build();
    }

    private Retention retention(DataSource dataSource, HousekeepingProperties given) {
        String setting = "postrider.relay.keep-history";
        try {
            Retention kept = new Retention(
                    dataSource, storage.tables(), properties.relay().keepHistory());
            setting = "postrider.housekeeping.keep-audit";
            return kept.keepAudit(given.keepAudit());
        } catch (IllegalArgumentException e) {
            throw new SetupException(String.valueOf(e.getMessage()), "Change " + setting + ".", e);
        }
    }

    /**
     * For a thread of the application, whether or not it has a relay: of several applications only this one may know whom to
     * tell. Empty if there is nothing to do.
     */
    Optional<Housekeeper> ofApplication() {
        Optional<Alerts> alerts = alerts();
        Duration keepInbox = properties.housekeeping().keepInbox();
        if (keepInbox != null && !properties.housekeeping().enabled()) {
            throw new SetupException(
                    "postrider.housekeeping.keep-inbox is " + keepInbox + ", and postrider.housekeeping.enabled is"
                            + " false, so that nothing is pruned.",
                    "Leave out one of them.");
        }
        if (alerts.isEmpty() && keepInbox == null) {
            return Optional.empty();
        }
        Housekeeper.Builder builder = builder(storage.dataSource());
        alerts.ifPresent(builder::alerts);
        if (keepInbox != null) {
            requireLongEnough(keepInbox);
            builder.daily("inbox", () -> inbox.prune(keepInbox));
        }
        return Optional.of(builder.build());
    }

    /** Longer than an event may take to come again, as far as these settings tell. */
    private void requireLongEnough(Duration keepInbox) {
        String why = null;
        String other = null;
        if (keepInbox.compareTo(Duration.ofDays(1)) < 0) {
            why = "and a day is the least";
        } else if (keepInbox.compareTo(longestReplay()) < 0) {
            why = "and what was delivered can be replayed for up to " + longestReplay();
            other = "postrider.relay.keep-history";
        } else if (keepInbox.compareTo(longestRetry()) < 0) {
            why = "and a failed event is tried again for up to " + longestRetry();
            other = "the settings under postrider.relay.retry";
        }
        if (why != null) {
            throw new SetupException(
                    "postrider.housekeeping.keep-inbox is " + keepInbox + ", " + why
                            + ": an event may come again, and would be processed again.",
                    "Raise postrider.housekeeping.keep-inbox" + (other == null ? "." : ", or lower " + other + "."));
        }
    }

    /** The history goes day by day: its oldest events are there for a day longer. */
    private Duration longestReplay() {
        return properties.relay().keepHistory().plusDays(1);
    }

    private Duration longestRetry() {
        return RelayLifecycle.retry(properties.relay().retry()).longest();
    }

    private Housekeeper.Builder builder(DataSource dataSource) {
        HousekeepingProperties given = properties.housekeeping();
        return Housekeeper.builder(dataSource)
                .tables(storage.tables())
                .dailyAt(new DailyAt(
                        Objects.requireNonNullElse(given.dailyAt(), HousekeepingProperties.DAILY_AT),
                        Objects.requireNonNullElse(given.zone(), ZoneOffset.UTC)));
    }

    private Optional<Alerts> alerts() {
        AlertProperties given = alertProperties;
        if (given == null) {
            return Optional.empty();
        }
        try {
            List<AlertChannel> channels = channels(given);
            if (channels.isEmpty()) {
                return Optional.empty();
            }
            Alerts.Builder builder = Alerts.builder(storage.dataSource())
                    .tables(storage.tables())
                    .tell(channels.toArray(AlertChannel[]::new))
                    .newsEvery(given.newsEvery())
                    .remindEvery(given.remindEvery())
                    .watch(
                            new Condition.Pending(given.pending()),
                            new Condition.Retrying(given.retrying()),
                            new Condition.Oldest(given.oldest()),
                            new Condition.KeyHeld(given.keyHeld()),
                            new Condition.RelaySilent(given.relaySilent()),
                            new Condition.NoRelay(given.noRelay()));
            given.ignore().forEach(builder::ignore);
            return Optional.of(builder.build());
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    "Nobody can be told what is wrong with these settings: " + e.getMessage(),
                    "Change the settings under postrider.alerts.",
                    e);
        }
    }

    private List<AlertChannel> channels(AlertProperties given) {
        List<AlertChannel> channels = new ArrayList<>(ownChannels);
        if (given.log()) {
            channels.add(new LogChannel());
        }
        String slack = given.slack().url();
        String channel = given.slack().channel();
        if (slack == null && channel != null) {
            throw new IllegalArgumentException("slack.channel is " + channel + ", and there is no slack.url.");
        }
        if (slack != null) {
            SlackChannel told = SlackChannel.of(Endpoint.of(slack));
            channels.add(channel == null ? told : told.channel(channel));
        }
        AlertProperties.Webhook webhook = given.webhook();
        String url = webhook.url();
        String secret = webhook.secret();
        if ((url == null) != (secret == null)) {
            throw new IllegalArgumentException(
                    url == null
                            ? "there is a webhook.secret and no webhook.url."
                            : "there is a webhook.url and no webhook.secret, by which the receiver knows the sender.");
        }
        if (url != null && secret != null) {
            channels.add(WebhookChannel.of(endpoint(url, webhook), secret));
        }
        return channels;
    }

    private static Endpoint endpoint(String url, AlertProperties.Webhook webhook) {
        Endpoint endpoint = Endpoint.of(url);
        if (webhook.allowHttp()) {
            endpoint = endpoint.allowHttp();
        }
        return webhook.allowPrivateAddresses() ? endpoint.allowPrivateAddresses() : endpoint;
    }
}
