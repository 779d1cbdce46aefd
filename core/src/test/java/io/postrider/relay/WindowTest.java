// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class WindowTest {

    @Test
    void oneReadAsksForThreeQuartersAndAllStreamsTogetherHaveFourTimesAsMuch() {
        Window window = Window.ofDefaults();
        assertThat(window.batchRows()).isEqualTo(6_000);
        assertThat(window.batchBytes()).isEqualTo(12L << 20);
        assertThat(window.totalRows()).isEqualTo(32_000);
        assertThat(window.totalBytes()).isEqualTo(64L << 20);
    }

    @Test
    void theSmallestWindowStillReadsOne() {
        Window window = new Window(1, 1);
        assertThat(window.batchRows()).isEqualTo(1);
        assertThat(window.batchBytes()).isEqualTo(1);
        assertThat(window.totalRows()).isEqualTo(4);
    }

    @Test
    void whoeverMeansUnlimitedDoesNotGetLessThanNothing() {
        Window window = new Window(Integer.MAX_VALUE, Long.MAX_VALUE);
        assertThat(window.totalRows()).isEqualTo(Integer.MAX_VALUE);
        assertThat(window.totalBytes()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aWindowThatLetsNothingThroughIsRefused() {
        assertThatThrownBy(() -> new Window(0, 5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A window of 0 rows and 5 bytes lets nothing through. Give 1 or more of both.");
        assertThatThrownBy(() -> new Window(5, -1))
                .hasMessage("A window of 5 rows and -1 bytes lets nothing through. Give 1 or more of both.");
    }
}
