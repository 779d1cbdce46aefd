// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * A YAML file while it is read: its sections, what was asked of them, and what is wrong. Text alone is made of it, never an
 * object. Not thread-safe.
 */
final class YamlFile {
    private final Problems problems;
    private final Variables variables;
    private final List<Section> sections = new ArrayList<>();
    private final Map<String, String> defaults = new LinkedHashMap<>();
    private final Section root;

    YamlFile(String name, String text, Function<String, @Nullable String> environment) {
        problems = new Problems(name);
        variables = new Variables(environment);
        root = root(text);
    }

    static YamlFile read(Path path, Function<String, @Nullable String> environment) {
        String name = path.getFileName() == null
                ? path.toString()
                : path.getFileName().toString();
        try {
            return new YamlFile(name, Files.readString(path), environment);
        } catch (CharacterCodingException e) {
            throw new ConfigException(List.of("The file " + path + " is not UTF-8. Save it as UTF-8."));
        } catch (IOException e) {
            throw new ConfigException(List.of("The file " + path + " cannot be read. Give --config a readable file."));
        }
    }

    private Section root(String text) {
        try {
            Optional<Node> node =
                    new Compose(LoadSettings.builder().setUseMarks(true).build()).composeString(text);
            if (node.isPresent() && node.get() instanceof MappingNode mapping) {
                return new Section(this, new Section.Place("", "", 1), mapping);
            }
            problems.add(1, "", "is not a file of keys and values. See: postrider serve --print-example");
        } catch (MarkedYamlEngineException e) {
            int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(0);
            problems.add(line, "", "is no YAML: " + e.getProblem() + ".");
        } catch (YamlEngineException e) {
            problems.add(
                    0,
                    "",
                    "is no YAML: "
                            + String.valueOf(e.getMessage()).lines().findFirst().orElse("") + ".");
        }
        throw new ConfigException(problems.lines());
    }

    Section root() {
        return root;
    }

    Problems problems() {
        return problems;
    }

    Variables variables() {
        return variables;
    }

    void opened(Section section) {
        sections.add(section);
    }

    void asked(String pattern, String otherwise) {
        defaults.putIfAbsent(pattern, otherwise);
    }

    /** What was asked for, with what holds if it is not given: {@code databases.*.relays.*.lease}. */
    Map<String, String> defaults() {
        return defaults;
    }

    /** @throws ConfigException if anything is wrong, also keys that nobody asked for */
    void finish() {
        sections.forEach(Section::refuseUnknown);
        if (problems.count() > 0) {
            throw new ConfigException(problems.lines());
        }
    }
}
