// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import org.junit.jupiter.api.BeforeEach;

/** The same where the table has too many rows to look at each. */
class CrowdedReadRaceTest extends ReadRaceTest {
    @BeforeEach
    void crowd() {
        database.crowd();
    }
}
