// SPDX-License-Identifier: Apache-2.0
package io.postrider;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.postrider.relay.Publisher;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final String ROOT = "io.postrider";
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** Which package may use which others; the first three know each other, above them there is no way back. */
    private static final Map<String, Set<String>> MAY_USE = Map.of(
            "", Set.of("internal"),
            "internal", Set.of("", "table"),
            "table", Set.of(""),
            "relay", Set.of("", "internal"),
            "handler", Set.of("", "internal", "relay"),
            "inbox", Set.of(""),
            "ops", Set.of("", "internal", "table"),
            "jdbc", Set.of("", "internal", "table", "relay", "handler", "inbox", "ops"));

    private static final Pattern EMPTY_NAME =
            Pattern.compile("(Abstract|Default|Base)[A-Z].*|I[A-Z][a-z].*|.*(Impl|Manager|Helper|Utils?|Processor)");

    @Test
    void packagesUseOnlyWhatTheyMay() {
        Set<String> arrows = new TreeSet<>();
        CORE.forEach(from -> from.getDirectDependenciesFromSelf().stream()
                .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                .filter(to -> to.getPackageName().startsWith(ROOT))
                .filter(to -> !to.getPackageName().equals(from.getPackageName()))
                .filter(to -> !MAY_USE.getOrDefault(part(from), Set.of()).contains(part(to)))
                .forEach(to -> arrows.add(from.getName() + " -> " + to.getName())));
        assertThat(arrows).isEmpty();
        assertThat(CORE.stream().map(ArchitectureTest::part).collect(Collectors.toSet()))
                .as("every package has its line in the table")
                .isEqualTo(MAY_USE.keySet());
    }

    @Test
    void coreNeedsTheJdkSlf4jAndJspecifyAlone() {
        classes()
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "io.postrider..",
                        "java..",
                        "javax.sql..",
                        "javax.net..",
                        "javax.crypto..",
                        "org.slf4j..",
                        "org.jspecify..")
                .check(CORE);
    }

    @Test
    void theEngineTheHandlersAndTheInboxKnowNoDatabase() {
        noClasses()
                .that()
                .resideInAnyPackage("io.postrider.relay..", "io.postrider.handler..", "io.postrider.inbox..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.sql..", "javax.sql..")
                .check(CORE);
    }

    @Test
    void theClockOnTheWallDecidesNothing() {
        noClasses()
                .that()
                .resideInAnyPackage("io.postrider.relay..", "io.postrider.handler..", "io.postrider.jdbc..")
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .check(CORE);
    }

    @Test
    void onlyTheCourierPublishes() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName("io.postrider.relay.Courier")
                .should()
                .callMethod("io.postrider.relay.Lane", "send", "io.postrider.relay.Delivery")
                .check(CORE);
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(Publisher.class.getName())
                .should()
                .callMethod(Publisher.class, "publish", OutboxEvent.class)
                .check(CORE);
    }

    @Test
    void namesSayWhatAClassIs() {
        assertThat(CORE.stream()
                        .map(JavaClass::getSimpleName)
                        .filter(name -> EMPTY_NAME.matcher(name).matches()))
                .isEmpty();
    }

    @Test
    void noClassCanBeChangedByInheritingFromIt() {
        assertThat(CORE.stream()
                        .filter(type -> type.isTopLevelClass() && !type.isInterface() && !type.isEnum())
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .filter(type -> !type.getModifiers().contains(JavaModifier.FINAL))
                        .map(JavaClass::getName))
                .as("an exception that callers catch, and a sealed one")
                .containsExactlyInAnyOrder("io.postrider.OutboxException", "io.postrider.relay.PublishException");
    }

    private static String part(JavaClass type) {
        String name = type.getPackageName();
        return name.equals(ROOT) ? "" : name.substring(ROOT.length() + 1);
    }
}
