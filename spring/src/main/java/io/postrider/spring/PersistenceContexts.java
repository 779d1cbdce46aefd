// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import jakarta.persistence.EntityManager;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaDialect;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * What JPA has not written yet. Spring lets Hibernate flush in the commit itself, behind every callback; flushed here,
 * the application's rows are locked before its events get their ids.
 */
final class PersistenceContexts {
    private static final boolean JPA =
            present("jakarta.persistence.EntityManager") && present("org.springframework.orm.jpa.EntityManagerHolder");

    private PersistenceContexts() {}

    /** Writes what the persistence contexts of the current transaction hold. */
    static void flush() {
        if (JPA) {
            Bound.flush();
        }
    }

    private static boolean present(String type) {
        return ClassUtils.isPresent(type, PersistenceContexts.class.getClassLoader());
    }

    /** Apart, since it cannot be loaded without JPA. */
    private static final class Bound {
        static void flush() {
            Map.copyOf(TransactionSynchronizationManager.getResourceMap()).forEach((factory, resource) -> {
                if (resource instanceof EntityManagerHolder holder) {
                    flush(factory, holder.getEntityManager());
                }
            });
        }

        private static void flush(Object factory, EntityManager manager) {
            if (!manager.isOpen() || !manager.isJoinedToTransaction()) {
                return;
            }
            try {
                manager.flush();
            } catch (RuntimeException e) {
                JpaDialect dialect = dialect(factory);
                // Callers expect what a commit would have thrown.
                throw dialect == null ? e : DataAccessUtils.translateIfNecessary(e, dialect);
            }
        }

        private static @Nullable JpaDialect dialect(Object factory) {
            return factory instanceof EntityManagerFactoryInfo info ? info.getJpaDialect() : null;
        }
    }
}
