// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpansTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 77, 255})
    void everyShardIsLookedAtOnceFromTheGivenOneOn(int shard) {
        for (Spans spans : List.of(Spans.round(shard, 1000), Spans.abreast(shard, 1000))) {
            List<Integer> looked = new ArrayList<>();
            for (int i = 0; i < spans.first().size(); i++) {
                IntStream.rangeClosed(spans.first().get(i), spans.last().get(i)).forEach(looked::add);
            }
            assertThat(looked).hasSize(256).startsWith(shard).doesNotHaveDuplicates();
            assertThat(spans.depth() * spans.first().size()).isGreaterThanOrEqualTo(1000);
        }
    }
}
