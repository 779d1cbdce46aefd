// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("sample")
class SimulatorTest {
    private static final int SEEDS = 20_000;

    @Test
    void everyPromiseHoldsInEverySchedule() {
        Simulator.Result result = Simulator.play(1, SEEDS);
        System.out.println(SEEDS + " simulated schedules, " + result.seedsPerSecond() + " per second");
        assertThat(result.failure().map(Simulator::describe)).isEmpty();
        assertThat(result.tally().missing())
                .as("what never happened in any schedule")
                .isEmpty();
    }

    @Test
    void theSameSeedIsTheSameScheduleStepByStep() {
        LongStream.rangeClosed(1, 100)
                .forEach(seed -> assertThat(Simulator.trace(seed))
                        .as("seed %s", seed)
                        .hasSizeGreaterThan(50)
                        .isEqualTo(Simulator.trace(seed)));
    }
}
