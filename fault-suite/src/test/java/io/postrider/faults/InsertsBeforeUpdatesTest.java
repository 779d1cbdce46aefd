// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.testkit.ChildJvm;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** T15: Hibernate writes inserts before updates. It is the starter's own test, in a JVM with the starter's classpath. */
class InsertsBeforeUpdatesTest {
    private static final String TEST = "io.postrider.spring.JpaKeyOrderTest";
    private static final Path STARTER = OtherClasses.ROOT.resolve("spring").resolve("target");
    private static final String SAYS = "T15 ";

    @Test
    @Tag("T15")
    @DisplayName("Hibernate writes inserts before updates")
    void eventsOfAnAccountAreInTheOrderInWhichItsChangesLockedIt() throws IOException {
        try (ChildJvm starter = ChildJvm.of(TEST).classpath(classpath()).start()) {
            String said = starter.awaitLine(line -> line.startsWith(SAYS), Duration.ofMinutes(3));
            assertThat(starter.awaitExit(Duration.ofSeconds(30))).hasValue(0);
            ResultLines.add(new ResultLines.Line(
                    "T15 accounts changed through Hibernate",
                    "-",
                    "eight writers of three accounts",
                    said.substring(SAYS.length()),
                    "with and without strict-key-order"));
        }
    }

    private static String classpath() throws IOException {
        Path file = STARTER.resolve("classpath");
        assertThat(file)
                .as("written when the starter is built, as ./faults does")
                .exists();
        return String.join(
                File.pathSeparator,
                STARTER.resolve("test-classes").toString(),
                STARTER.resolve("classes").toString(),
                Files.readString(file).strip());
    }
}
