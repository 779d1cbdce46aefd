// SPDX-License-Identifier: Apache-2.0
/** Delivers events to Apache Kafka: {@link io.postrider.kafka.KafkaPublisher}. */
@NullMarked
package io.postrider.kafka;

import org.jspecify.annotations.NullMarked;
