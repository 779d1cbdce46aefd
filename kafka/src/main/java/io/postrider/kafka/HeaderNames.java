// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

/** The headers that a consumer finds on a record, beside the event's own. */
public final class HeaderNames {
    /** The same for every delivery of an event: what consumers drop duplicates by. */
    public static final String EVENT_ID = "postrider-event-id";

    public static final String EVENT_TYPE = "postrider-event-type";

    public static final String AGGREGATE_TYPE = "postrider-aggregate-type";

    public static final String AGGREGATE_ID = "postrider-aggregate-id";

    /** When it happened by the writer's clock, as an ISO-8601 instant. */
    public static final String OCCURRED_AT = "postrider-occurred-at";

    public static final String CONTENT_TYPE = "content-type";

    /** On dead letters: a short name of the failure. */
    public static final String ERROR_CODE = "postrider-error-code";

    /** On dead letters: the failure for people. */
    public static final String ERROR_MESSAGE = "postrider-error-message";

    /** On dead letters: the stream that the event belongs to. */
    public static final String STREAM = "postrider-stream";

    /** On dead letters of a consumer: {@code DEAD}, or {@code UNKNOWN} if it may have had its effect. */
    public static final String OUTCOME = "postrider-outcome";

    /** On dead letters of a consumer: how often its handler was tried. */
    public static final String ATTEMPTS = "postrider-attempts";

    /** On dead letters of a consumer: the topic in which the record is. */
    public static final String SOURCE_TOPIC = "postrider-source-topic";

    /** On dead letters of a consumer: the record's partition there. */
    public static final String SOURCE_PARTITION = "postrider-source-partition";

    /** On dead letters of a consumer: the record's offset there. */
    public static final String SOURCE_OFFSET = "postrider-source-offset";

    /** On dead letters of a consumer that were refused whole: what is missing, {@code value} or {@code value, headers}. */
    public static final String LEFT_OUT = "postrider-left-out";

    /** In streams that skip dead events: the oldest dead event of the key. */
    public static final String GAP = "postrider-gap";

    private HeaderNames() {}
}
