// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.relay.Publisher;

/** Puts something around the publisher of the relay when it starts. */
@FunctionalInterface
interface PublisherWrapper {
    /** Returns the same if there is nothing to do. */
    Publisher wrap(Publisher publisher);
}
