// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults.mutants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A few mutants with every build, of those that need no server; {@code ./faults mutants} runs all. */
@Tag("sample")
class MutantsTest {
    private static final List<String> QUICK = List.of(
            "lane-goes-on", "right-without-end", "outage-burns-attempts", "sensitive-header-allowed", "secret-shown");

    @Test
    void someKnownMistakesAreFound() {
        List<Mutant> mutants = Mutants.named(QUICK);
        assertThat(Mutants.baseline(mutants)).isGreaterThan(QUICK.size());
        assertThat(mutants.stream().map(Mutants::judge).filter(verdict -> !verdict.killed()))
                .isEmpty();
    }

    @Test
    void everyMutantFitsTheSourceAsItIs() {
        List<Mutant> all = MutantFile.all();
        assertThat(all).hasSizeGreaterThan(50).allSatisfy(mutant -> {
            assertThat(mutant.mistake()).as(mutant.name()).endsWith(".");
            assertThat(mutant.tests()).as(mutant.name()).isNotEmpty();
            assertThat(Workshop.changedFiles(mutant)).as(mutant.name()).isNotEmpty();
        });
        assertThat(all).extracting(Mutant::name).doesNotHaveDuplicates();
    }

    @Test
    void theDocumentationListsAllOfThem() throws IOException {
        String expected = MutantFile.all().stream()
                .map(mutant -> "| `" + mutant.name() + "` | " + mutant.mistake() + " |\n")
                .collect(Collectors.joining());
        assertThat(Files.readString(Path.of("..", "docs", "RELIABILITY.md"))).contains(expected);
    }

    @Test
    void aChangeThatFitsNowhereOrTwiceIsNoMutant() {
        Mutant.Change change = new Mutant.Change("A.java", List.of("one", "two"), List.of("three"));
        assertThat(change.in("  zero\n  one\n    two\n")).isEqualTo("  zero\n  three\n");
        assertThatThrownBy(() -> change.in("one\n")).hasMessage("Not found in A.java: [one, two]");
        assertThatThrownBy(() -> change.in("one\ntwo\none\ntwo"))
                .hasMessage("Found more than once in A.java: [one, two]");
    }

    @Test
    void aMutantThatNobodyKnowsIsNamed() {
        assertThatThrownBy(() -> Mutants.named(List.of("lane-goes-on", "no-such")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("There is no mutant no-such among: append-outside-transaction, ");
    }
}
