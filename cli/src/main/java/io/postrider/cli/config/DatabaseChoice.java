// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The databases of a relay server's file, for commands that want one of them. Only how the chosen one is reached is read, and one
 * of its relays if that is wanted: what else the file says, and which variables that needs, is the server's business.
 */
public final class DatabaseChoice {
    private final YamlFile file;
    private final Map<String, Section> databases;

    private DatabaseChoice(YamlFile file) {
        this.file = file;
        this.databases = file.root().named("databases", "needed");
    }

    /**
     * Reads a file.
     *
     * @throws ConfigException if it is no YAML
     */
    public static DatabaseChoice of(Path path, Function<String, @Nullable String> environment) {
        return new DatabaseChoice(YamlFile.read(path, environment));
    }

    /**
     * The properties {@code url}, {@code user}, {@code password} and {@code schema} of one.
     *
     * @param name of the one that is meant; may be missing if there is only one
     */
    public Properties choose(@Nullable String name) {
        Section section = section(name);
        DatabaseConfig.Address address = DatabaseConfig.address(section);
        Properties properties = new Properties();
        properties.setProperty("url", address.url());
        address.user().ifPresent(user -> properties.setProperty("user", user));
        address.password().ifPresent(password -> properties.setProperty("password", password));
        section.text("schema").ifPresent(schema -> properties.setProperty("schema", schema));
        refuseProblems();
        return properties;
    }

    /**
     * The relay of this group in one of them, if the file has one.
     *
     * @param name of the database; may be missing if there is only one
     */
    public Optional<RelayConfig> relay(@Nullable String name, String group) {
        List<RelayConfig> relays =
                section(name).sections("relays").stream().map(RelayConfig::of).toList();
        refuseProblems();
        return relays.stream().filter(each -> each.group().equals(group)).findFirst();
    }

    private void refuseProblems() {
        if (file.problems().count() > 0) {
            throw new ConfigException(file.problems().lines());
        }
    }

    private Section section(@Nullable String name) {
        String chosen = name == null && databases.size() == 1
                ? databases.keySet().iterator().next()
                : name;
        Section section = chosen == null ? null : databases.get(chosen);
        if (section == null) {
            throw new ConfigException(List.of("The file has the databases " + String.join(", ", databases.keySet())
                    + (name == null ? "" : ", and no " + name) + ". Give one of them: --database NAME."));
        }
        return section;
    }
}
