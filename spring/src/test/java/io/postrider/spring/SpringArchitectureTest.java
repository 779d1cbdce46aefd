// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

class SpringArchitectureTest {
    /** In both lines by the same name. */
    private static final String[] BOOT = {
        "org.springframework.boot.actuate.autoconfigure.endpoint.condition..",
        "org.springframework.boot.actuate.endpoint..",
        "org.springframework.boot.autoconfigure",
        "org.springframework.boot.autoconfigure.condition..",
        "org.springframework.boot.context.properties..",
        "org.springframework.boot.diagnostics..",
        "org.springframework.boot",
        "org.springframework.boot.cloud",
        "org.springframework.boot.jdbc.metadata",
        "org.springframework.boot.web.servlet"
    };

    private static final Pattern EMPTY_NAME =
            Pattern.compile("(Abstract|Default|Base)[A-Z].*|.*(Impl|Manager|Helper|Utils?|Processor)");

    private static final JavaClasses STARTER = new ClassFileImporter()
            .importUrl(SpringOutbox.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void appending_needs_spring_and_nothing_of_boot_micrometer_jackson_or_kafka() {
        noClasses()
                .that()
                .resideInAPackage("io.postrider.spring")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.springframework.boot..",
                        "io.micrometer..",
                        "com.fasterxml..",
                        "tools.jackson..",
                        "com.zaxxer..",
                        "org.apache.kafka..",
                        "io.postrider.kafka..",
                        "io.postrider.spring.autoconfigure..")
                .check(STARTER);
    }

    @Test
    void what_moved_between_the_lines_of_boot_is_used_by_those_named_after_them_alone() {
        assertThat(STARTER.stream()
                        .filter(type -> !type.getSimpleName().matches("Boot[34](Health|Kafka)"))
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .map(dependency -> dependency.getTargetClass().getPackageName())
                        .filter(name -> name.startsWith("org.springframework.boot"))
                        .filter(name -> Arrays.stream(BOOT).noneMatch(known -> within(name, known)))
                        .distinct())
                .isEmpty();
    }

    @Test
    void nothing_comes_with_the_starter_that_the_application_did_not_ask_for() throws Exception {
        Document pom = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(Path.of("pom.xml").toFile());
        NodeList all = (NodeList) XPathFactory.newInstance()
                .newXPath()
                .evaluate(
                        "/project/dependencies/dependency[not(optional = 'true') and not(scope)]/artifactId",
                        pom,
                        XPathConstants.NODESET);
        assertThat(IntStream.range(0, all.getLength()).mapToObj(i -> all.item(i).getTextContent()))
                .containsExactlyInAnyOrder(
                        "postrider-core", "postrider-kafka", "postrider-micrometer", "slf4j-api", "jspecify");
    }

    private static boolean within(String name, String known) {
        return known.endsWith("..")
                ? (name + ".").startsWith(known.substring(0, known.length() - 1))
                : name.equals(known);
    }

    @Test
    void names_say_what_a_class_is_and_none_can_be_changed_by_inheriting_from_it() {
        assertThat(STARTER.stream()
                        .map(JavaClass::getSimpleName)
                        .filter(name -> EMPTY_NAME.matcher(name).matches()))
                .isEmpty();
        assertThat(STARTER.stream()
                        .filter(type -> type.isTopLevelClass() && !type.isInterface() && !type.isEnum())
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .filter(type -> !type.getModifiers().contains(JavaModifier.FINAL))
                        .map(JavaClass::getName))
                .isEmpty();
    }
}
