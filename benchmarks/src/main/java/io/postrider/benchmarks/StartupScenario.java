// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import io.postrider.testkit.ChildJvm;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * How much longer a small application of Spring Boot takes to start with the starter and its relay: from the start of the JVM
 * until the application is ready, with and without by turns.
 */
final class StartupScenario implements Scenario {
    private static final String METRIC = "with_ms";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Options options;
    private final List<String> wanted;

    StartupScenario(Options options) {
        this.options = options;
        this.wanted = options.variants(List.of("starter"));
    }

    @Override
    public Results measure(Rig rig, Consumer<String> progress) throws Exception {
        Results results = new Results("startup", METRIC, wanted, List.of());
        List<Variant> variants = new ArrayList<>(List.of(new Pair(rig)));
        return new Rounds(options.number("rounds", 10), 1, 1).run(variants, results, progress);
    }

    /** One start of each, the other one first each time. */
    private static final class Pair implements Variant {
        private final Rig rig;
        private boolean starterFirst;

        Pair(Rig rig) {
            this.rig = rig;
        }

        @Override
        public String name() {
            return "starter";
        }

        @Override
        public Map<String, Double> round(int size) {
            Cpu.Reading before = rig.cpu().read();
            starterFirst = !starterFirst;
            Start first = start(starterFirst);
            Start second = start(!starterFirst);
            Start with = starterFirst ? first : second;
            Start without = starterFirst ? second : first;
            Cpu.Reading after = rig.cpu().read();
            Map<String, Double> measured = new LinkedHashMap<>();
            measured.put(METRIC, with.took());
            measured.put("without_ms", without.took());
            measured.put("difference_ms", with.took() - without.took());
            measured.put("percent", (with.took() / without.took() - 1) * 100);
            measured.put("cpu_with_ms", with.cpu());
            measured.put("cpu_without_ms", without.cpu());
            measured.put("cpu_percent", (with.cpu() / without.cpu() - 1) * 100);
            measured.put(Results.OTHER_LOAD, Cpu.cores(before, after).getOrDefault(Results.OTHER_LOAD, Double.NaN));
            return measured;
        }

        /** Until the application was ready: time, and processor time, which others on the machine change less. */
        private record Start(double took, double cpu) {}

        private Start start(boolean withStarter) {
            long start = System.nanoTime();
            try (ChildJvm jvm = ChildJvm.of(StartupMain.class)
                    .classpath(classpath(withStarter))
                    .args(
                            "--spring.datasource.url=" + rig.url(),
                            "--spring.kafka.bootstrap-servers=" + rig.bootstrapServers())
                    .jvmOptions("-Xmx256m")
                    .start()) {
                String ready = jvm.awaitLine(line -> line.startsWith(StartupMain.READY), PATIENCE);
                double took = (System.nanoTime() - start) / 1e6;
                String[] words = ready.split(" ", -1);
                if (!words[1].equals(String.valueOf(withStarter))) {
                    throw new IllegalStateException(
                            "The application was to have a relay (" + withStarter + "), and" + " it says: " + ready);
                }
                return new Start(took, Double.parseDouble(words[2]));
            }
        }

        /** The same but for the starter; never what an application asks for besides. */
        private static String classpath(boolean withStarter) {
            return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                    .filter(each -> withStarter || !isOf("spring", "postrider-spring-boot-starter", each))
                    .filter(each -> !isOf("postgres", "postrider-postgres", each))
                    .filter(each -> !isOf("server", "postrider-server", each))
                    .collect(Collectors.joining(File.pathSeparator));
        }

        /** As a jar, or as the classes of a module that is built here. */
        private static boolean isOf(String directory, String artifact, String entry) {
            return new File(entry).getName().startsWith(artifact + "-")
                    || entry.endsWith(
                            File.separator + directory + File.separator + "target" + File.separator + "classes");
        }
    }
}
