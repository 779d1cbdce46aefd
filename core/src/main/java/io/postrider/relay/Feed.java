// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

/** Where events come from and where results go: knows rows and ownership, and nothing of destinations. Thread-safe. */
public interface Feed {

    /**
     * Makes a relay one of those that share this feed.
     *
     * @throws FeedException if the database cannot be reached
     * @throws io.postrider.OutboxException if the settings contradict what is stored
     */
    Membership join(Joining joining);

    /**
     * What a relay says of itself.
     *
     * @param name for people
     * @param loops how many intakes it will use; 0: it wants no share and sends only what is committed in its process
     * @param onePass whether it takes only what nobody owns and leaves soon
     */
    record Joining(String name, int loops, boolean onePass) {}
}
