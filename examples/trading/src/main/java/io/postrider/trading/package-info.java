// SPDX-License-Identifier: Apache-2.0
/** Workers that place orders at an exchange, fed by PostgreSQL alone or by Kafka. */
@NullMarked
package io.postrider.trading;

import org.jspecify.annotations.NullMarked;
