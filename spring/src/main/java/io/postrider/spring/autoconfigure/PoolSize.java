// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import java.util.OptionalInt;
import javax.sql.DataSource;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.util.ClassUtils;

/** How many connections a pool has at most, as far as Spring Boot knows the pool. */
final class PoolSize {
    private static final boolean KNOWN = ClassUtils.isPresent(
            "org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider", PoolSize.class.getClassLoader());

    private PoolSize() {}

    /** Empty for a DataSource that is no pool, or one without a limit. */
    static OptionalInt of(ListableBeanFactory beans, DataSource dataSource) {
        return KNOWN ? Metadata.of(beans, dataSource) : OptionalInt.empty();
    }

    /** Apart, since in Spring Boot 4 its types come with a module that an application need not have. */
    private static final class Metadata {
        static OptionalInt of(ListableBeanFactory beans, DataSource dataSource) {
            DataSourcePoolMetadata found = new CompositeDataSourcePoolMetadataProvider(
                            beans.getBeansOfType(DataSourcePoolMetadataProvider.class)
                                    .values())
                    .getDataSourcePoolMetadata(dataSource);
            Integer most = found == null ? null : found.getMax();
            return most == null || most < 0 ? OptionalInt.empty() : OptionalInt.of(most);
        }
    }
}
