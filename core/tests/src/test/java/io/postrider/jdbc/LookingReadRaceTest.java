// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same where steps through the indexes have become dear, so that a read looks at all rows. */
class LookingReadRaceTest extends ReadRaceTest {
    @BeforeEach
    void look() {
        owner.lookAtAll();
    }

    @Test
    void whereRowsAreTooManyToLookAtAllTheyAreFoundByStepsAfterAll() {
        database.crowd();
        long first = database.event("s", "k");
        assertThat(owner.readIds()).containsExactly(first);
        long second = database.event("s", "k");
        assertThat(owner.readIds(first)).containsExactly(second);
    }
}
