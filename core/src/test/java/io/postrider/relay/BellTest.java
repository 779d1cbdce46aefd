// SPDX-License-Identifier: Apache-2.0
package io.postrider.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BellTest {
    private final Bell bell = new Bell();
    private final List<String> heard = new ArrayList<>();

    @Test
    void everyHearerHearsEveryRing() {
        bell.onRing(() -> heard.add("a"));
        bell.onRing(() -> heard.add("b"));
        bell.ring();
        bell.ring();
        assertThat(heard).containsExactly("a", "b", "a", "b");
    }

    @Test
    void aBellThatNobodyHearsMayBeRung() {
        bell.ring();
        assertThat(heard).isEmpty();
    }

    @Test
    void whoHasEndedHearsNothingMore() {
        Runnable end = bell.onRing(() -> heard.add("a"));
        bell.onRing(() -> heard.add("b"));
        end.run();
        end.run();
        bell.ring();
        assertThat(heard).containsExactly("b");
    }

    @Test
    void aHearerThatFailsNeitherReachesTheRingerNorTheOthers() {
        bell.onRing(() -> {
            throw new IllegalStateException("deaf");
        });
        bell.onRing(() -> heard.add("b"));
        bell.ring();
        assertThat(heard).containsExactly("b");
    }

    @Test
    void aHearerMayEndItselfWhileItHears() {
        List<Runnable> end = new ArrayList<>();
        end.add(bell.onRing(() -> {
            heard.add("once");
            end.get(0).run();
        }));
        bell.ring();
        bell.ring();
        assertThat(heard).containsExactly("once");
    }
}
