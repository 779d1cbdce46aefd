// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.postrider.OutboxEvent;
import io.postrider.micrometer.StreamNames;
import io.postrider.relay.Publisher;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Keys become tags of timers, of which there must not be one for whatever data says. */
class ObservedStreamsTest {
    private final List<Observation.Context> ended = new ArrayList<>();
    private final ObservationRegistry registry = ObservationRegistry.create();

    /** Remembers what was observed. */
    private final class Ended implements ObservationHandler<Observation.Context> {
        @Override
        public void onStop(Observation.Context context) {
            ended.add(context);
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    @Test
    void only_so_many_streams_have_a_name_of_their_own_and_types_are_for_spans() {
        registry.observationConfig().observationHandler(new Ended());
        StreamNames names = new StreamNames(2);
        ObservedAppends appends = new ObservedAppends(() -> registry, names);
        Publisher nowhere = event -> CompletableFuture.completedFuture(null);
        for (String stream : List.of("one", "two", "three", "one", "four")) {
            OutboxEvent event = OutboxEvent.of(stream, "Type-" + stream).build();
            appends.around(List.of(event), () -> {});
            new ObservedPublisher(nowhere, registry, names).publish(event);
        }
        assertThat(ended)
                .extracting(Observation.Context::getContextualName)
                .containsExactly(
                        "append one",
                        "publish one",
                        "append two",
                        "publish two",
                        "append other",
                        "publish other",
                        "append one",
                        "publish one",
                        "append other",
                        "publish other");
        assertThat(ended).allSatisfy(each -> {
            assertThat(each.getLowCardinalityKeyValues())
                    .extracting(KeyValue::getKey)
                    .containsExactlyInAnyOrder("stream", "outcome");
            assertThat(each.getHighCardinalityKeyValues())
                    .extracting(KeyValue::getKey)
                    .containsExactly("type");
        });
        assertThat(ended)
                .extracting(each -> each.getLowCardinalityKeyValues().stream()
                        .filter(key -> key.getKey().equals("stream"))
                        .map(KeyValue::getValue)
                        .findFirst()
                        .orElseThrow())
                .containsOnly("one", "two", "other");
    }
}
