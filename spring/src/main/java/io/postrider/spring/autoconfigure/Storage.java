// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import io.postrider.table.TableNames;
import java.util.Arrays;
import java.util.Objects;
import java.util.OptionalInt;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/**
 * The DataSource that the outbox is in, and its tables there.
 *
 * @param poolSize how many connections it has at most, if that is known
 */
record Storage(DataSource dataSource, TableNames tables, OptionalInt poolSize) {

    static Storage choose(ListableBeanFactory beans, PostriderProperties properties) {
        DataSource dataSource = dataSource(beans, properties.dataSource());
        return new Storage(dataSource, tables(properties), PoolSize.of(beans, dataSource));
    }

    private static DataSource dataSource(ListableBeanFactory beans, @Nullable String name) {
        String[] names = beans.getBeanNamesForType(DataSource.class);
        if (name != null && !name.isBlank()) {
            try {
                return Objects.requireNonNull(beans.getBean(name, DataSource.class));
            } catch (NoSuchBeanDefinitionException e) {
                // Not as the cause: Spring Boot's own analysis of it would go before this one.
                throw new SetupException(
                        "There is no DataSource bean named '" + name + "', which postrider.data-source asks for.",
                        "Set postrider.data-source to one of these: " + Arrays.asList(names) + ".");
            }
        }
        DataSource only = beans.getBeanProvider(DataSource.class).getIfUnique();
        if (only == null) {
            throw new SetupException(
                    "There are " + names.length + " DataSource beans, " + Arrays.asList(names)
                            + ", and none is primary, so it is not known which one the outbox is in.",
                    "Set postrider.data-source to the name of the one that your transactions write to, or make it"
                            + " @Primary.");
        }
        return only;
    }

    private static TableNames tables(PostriderProperties properties) {
        try {
            return new TableNames(properties.schema().name());
        } catch (IllegalArgumentException e) {
            throw new SetupException(String.valueOf(e.getMessage()), "Change postrider.schema.name.", e);
        }
    }
}
