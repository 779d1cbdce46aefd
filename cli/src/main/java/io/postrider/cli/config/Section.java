// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * One group of keys in a file. Each question names a key and what holds without it; an answer of the wrong kind is a problem
 * of the file, and the default is returned so that reading goes on. Not thread-safe.
 */
final class Section {
    private final YamlFile file;
    private final Place place;
    private final boolean present;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Set<String> asked = new LinkedHashSet<>();
    private boolean free;

    /**
     * Where it is.
     *
     * @param path for people: {@code databases.orders.relays[0]}
     * @param pattern the same for all of its kind: {@code databases.*.relays.*}
     */
    record Place(String path, String pattern, int line) {
        Place key(String key, int at) {
            return new Place(
                    path.isEmpty() ? key : path + "." + key, pattern.isEmpty() ? key : pattern + "." + key, at);
        }

        Place named(String name, int at) {
            return new Place(path + "." + name, pattern + ".*", at);
        }

        Place numbered(int index, int at) {
            return new Place(path + "[" + index + "]", pattern + ".*", at);
        }
    }

    private record Entry(Node value, int line) {}

    Section(YamlFile file, Place place, @Nullable MappingNode mapping) {
        this.file = file;
        this.place = place;
        present = mapping != null;
        if (mapping != null) {
            mapping.getValue().forEach(this::add);
        }
        file.opened(this);
    }

    private void add(NodeTuple tuple) {
        int line = line(tuple.getKeyNode());
        if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
            file.problems().add(line, place.path(), "has a key that is no word.");
        } else if (entries.putIfAbsent(key.getValue(), new Entry(tuple.getValueNode(), line)) != null) {
            file.problems().add(line, place.key(key.getValue(), line).path(), "stands there twice. Remove one.");
        }
    }

    private static int line(Node node) {
        return node.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
    }

    boolean present() {
        return present;
    }

    boolean has(String key) {
        return entries.containsKey(key);
    }

    /** Says that the value of this key will not do. */
    void refuse(String key, String what) {
        Entry entry = entries.get(key);
        file.problems()
                .add(
                        entry == null ? place.line() : entry.line(),
                        place.key(key, 0).path(),
                        what);
    }

    /** Tries what is to be made later; what it throws is a problem of this key. */
    void check(String key, Runnable made) {
        try {
            made.run();
        } catch (RuntimeException e) {
            refuse(key, String.valueOf(e.getMessage()));
        }
    }

    /** Makes something of values that were read; what it throws is a problem of this key. */
    <T> T checked(String key, Supplier<T> made, T otherwise) {
        try {
            return made.get();
        } catch (RuntimeException e) {
            refuse(key, String.valueOf(e.getMessage()));
            return otherwise;
        }
    }

    Optional<String> text(String key) {
        return scalar(key, "");
    }

    String text(String key, String otherwise) {
        return scalar(key, otherwise).orElse(otherwise);
    }

    /** @param expected what to write, for people */
    String needed(String key, String expected) {
        int before = file.problems().count();
        Optional<String> given = scalar(key, "needed");
        if (present && given.isEmpty() && file.problems().count() == before) {
            refuse(key, (has(key) ? "is empty" : "is missing") + ". Write " + expected + ".");
        }
        return given.orElse("");
    }

    long number(String key, long otherwise, long least, long most) {
        return scalar(key, String.valueOf(otherwise))
                .map(text -> {
                    try {
                        long number = Long.parseLong(text.replace("_", ""));
                        if (number >= least && number <= most) {
                            return number;
                        }
                    } catch (NumberFormatException e) {
                        // Said below, as for a number out of range.
                    }
                    wrong(key, text, "a whole number from " + least + " to " + most);
                    return otherwise;
                })
                .orElse(otherwise);
    }

    boolean flag(String key, boolean otherwise) {
        return scalar(key, String.valueOf(otherwise))
                .map(text -> {
                    if (!text.equals("true") && !text.equals("false")) {
                        wrong(key, text, "true or false");
                        return otherwise;
                    }
                    return text.equals("true");
                })
                .orElse(otherwise);
    }

    Duration duration(String key, Duration otherwise) {
        return scalar(key, Span.of(otherwise))
                .map(text -> Span.parse(text).orElseGet(() -> {
                    wrong(key, text, "a time of more than nothing, such as 500ms, 8s, 10m, 4h or 7d");
                    return otherwise;
                }))
                .orElse(otherwise);
    }

    <E extends Enum<E>> E choice(String key, E otherwise) {
        return scalar(key, word(otherwise))
                .map(text -> choice(key, text, otherwise.getDeclaringClass()).orElse(otherwise))
                .orElse(otherwise);
    }

    private <E extends Enum<E>> Optional<E> choice(String key, String text, Class<E> type) {
        Optional<E> found = Arrays.stream(type.getEnumConstants())
                .filter(each -> word(each).equals(text.toLowerCase(Locale.ROOT)))
                .findFirst();
        if (found.isEmpty()) {
            List<String> words =
                    Arrays.stream(type.getEnumConstants()).map(Section::word).toList();
            wrong(key, text, "one of " + String.join(", ", words));
        }
        return found;
    }

    static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        forEach(key, "none", (each, at) -> filled(each, at).ifPresent(texts::add));
        return texts;
    }

    /** A section that may be missing: then nothing is in it. */
    Section section(String key) {
        Entry entry = entry(key);
        Place at = place.key(key, entry == null ? place.line() : entry.line());
        if (entry == null || entry.value() instanceof MappingNode) {
            return new Section(file, at, entry == null ? null : (MappingNode) entry.value());
        }
        found(at, entry.value(), "a section of keys and values");
        return new Section(file, at, null);
    }

    /** A list of sections. */
    List<Section> sections(String key) {
        List<Section> sections = new ArrayList<>();
        forEach(key, "none", (each, at) -> {
            if (each instanceof MappingNode mapping) {
                sections.add(new Section(file, at, mapping));
            } else {
                found(at, each, "a section of keys and values");
            }
        });
        return sections;
    }

    /** Sections by names that the file chooses. */
    Map<String, Section> named(String key, String otherwise) {
        Section names = section(key);
        names.free = true;
        file.asked(place.key(key, 0).pattern(), otherwise);
        Map<String, Section> sections = new LinkedHashMap<>();
        names.entries.forEach((name, entry) -> {
            Place at = names.place.named(name, entry.line());
            if (entry.value() instanceof MappingNode mapping) {
                sections.put(name, new Section(file, at, mapping));
            } else {
                found(at, entry.value(), "a section of keys and values");
            }
        });
        return sections;
    }

    /** Values by names that the file chooses. */
    Map<String, String> values(String key) {
        Section names = section(key);
        names.free = true;
        file.asked(place.key(key, 0).pattern(), "none");
        Map<String, String> values = new LinkedHashMap<>();
        names.entries.forEach((name, entry) -> filled(entry.value(), names.place.named(name, entry.line()))
                .ifPresent(value -> values.put(name, value)));
        return values;
    }

    private interface Element {
        void accept(Node node, Place at);
    }

    private void forEach(String key, String otherwise, Element element) {
        Entry entry = entry(key);
        Place at = place.key(key, entry == null ? 0 : entry.line());
        file.asked(at.pattern(), otherwise);
        if (entry == null) {
            return;
        }
        if (!(entry.value() instanceof SequenceNode list)) {
            found(at, entry.value(), "a list, each with a dash before it");
            return;
        }
        int index = 0;
        for (Node each : list.getValue()) {
            element.accept(each, at.numbered(index++, line(each)));
        }
    }

    private @Nullable Entry entry(String key) {
        asked.add(key);
        return entries.get(key);
    }

    private Optional<String> scalar(String key, String otherwise) {
        Entry entry = entry(key);
        file.asked(place.key(key, 0).pattern(), otherwise);
        return entry == null ? Optional.empty() : filled(entry.value(), place.key(key, entry.line()));
    }

    /** Text with the environment in it; one that is empty is none. */
    private Optional<String> filled(Node node, Place at) {
        if (!(node instanceof ScalarNode scalar)) {
            found(at, node, "one value");
            return Optional.empty();
        }
        if (scalar.getValue().isEmpty()) {
            file.problems().add(at.line(), at.path(), "is empty. Give a value, or remove the key.");
            return Optional.empty();
        }
        try {
            return Optional.of(file.variables().in(scalar.getValue())).filter(text -> !text.isEmpty());
        } catch (Variables.Missing e) {
            file.problems().add(at.line(), at.path(), String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    private void wrong(String key, String text, String expected) {
        refuse(key, "'" + text.replaceAll("\\p{Cntrl}", "?") + "' was found, " + expected + " is expected.");
    }

    private void found(Place at, Node node, String expected) {
        String found = node instanceof MappingNode
                ? "a section"
                : node instanceof SequenceNode
                        ? "a list"
                        : ((ScalarNode) node).getValue().isEmpty() ? "nothing" : "a single value";
        file.problems().add(at.line(), at.path(), found + " was found, " + expected + " is expected.");
    }

    void refuseUnknown() {
        if (free) {
            return;
        }
        entries.forEach((key, entry) -> {
            if (!asked.contains(key)) {
                String meant = Spelling.nearest(key, asked)
                        .map(near -> "Did you mean " + near + "?")
                        .orElse("Known here: " + String.join(", ", asked) + ".");
                file.problems().add(entry.line(), place.key(key, 0).path(), "there is no such key. " + meant);
            }
        });
    }
}
