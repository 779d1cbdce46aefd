// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.ops.AlertKind;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Who is told what is wrong, and from when on. Nobody looks unless there is a channel: one of these, or an AlertChannel bean.
 *
 * @param log Whether it is told in the log.
 * @param pending More pending events of a stream than this.
 * @param retrying More events of a stream that failed and are tried again than this.
 * @param oldest An undelivered event of a stream is older than this.
 * @param keyHeld A key is held for longer than this.
 * @param relaySilent A relay is silent for longer than this.
 * @param noRelay A stream has undelivered events and no relay for longer than this.
 * @param ignore What nobody is told of.
 * @param newsEvery At most so often of one stream or relay when it gets worse or comes back.
 * @param remindEvery So often of what stays as it is.
 */
@ConfigurationProperties(AlertProperties.PREFIX)
public record AlertProperties(
        @DefaultValue("false") boolean log,
        @DefaultValue Slack slack,
        @DefaultValue Webhook webhook,
        @DefaultValue("10000") long pending,
        @DefaultValue("100") long retrying,
        @DefaultValue("15m") Duration oldest,
        @DefaultValue("1h") Duration keyHeld,
        @DefaultValue("30s") Duration relaySilent,
        @DefaultValue("1m") Duration noRelay,
        @DefaultValue List<AlertKind> ignore,
        @DefaultValue("5m") Duration newsEvery,
        @DefaultValue("4h") Duration remindEvery) {
    static final String PREFIX = "postrider.alerts";

    /**
     * Slack.
     *
     * @param url URL of the incoming webhook, which is a secret.
     * @param channel Channel to write to, if the webhook may choose it.
     */
    public record Slack(@Nullable String url, @Nullable String channel) {

        /** Without its secret. */
        @Override
        public String toString() {
            return "Slack[channel=" + channel + "]";
        }
    }

    /**
     * A webhook of your own, which gets signed JSON documents.
     *
     * @param url Where they are posted to.
     * @param secret What they are signed with, 16 bytes or more.
     * @param allowHttp Whether the URL may be http, where nobody listens in between.
     * @param allowPrivateAddresses Whether the receiver may be in your own network.
     */
    public record Webhook(
            @Nullable String url,
            @Nullable String secret,
            @DefaultValue("false") boolean allowHttp,
            @DefaultValue("false") boolean allowPrivateAddresses) {

        /** Without its secrets. */
        @Override
        public String toString() {
            return "Webhook[allowHttp=" + allowHttp + ", allowPrivateAddresses=" + allowPrivateAddresses + "]";
        }
    }
}
