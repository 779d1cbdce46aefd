// SPDX-License-Identifier: Apache-2.0
package io.postrider.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Connections on which a statement fails when a test says so. */
final class FailingSource {
    private FailingSource() {}

    /** @param fails asked before each statement */
    static DataSource of(DataSource source, BooleanSupplier fails) {
        return proxy(DataSource.class, (method, args) -> {
            Object result = call(source, method, args);
            return result instanceof Connection connection ? failing(connection, fails) : result;
        });
    }

    private static Connection failing(Connection connection, BooleanSupplier fails) {
        return proxy(Connection.class, (method, args) -> {
            if (method.getName().equals("prepareStatement") && fails.getAsBoolean()) {
                throw new SQLException("The test said so", "08006");
            }
            return call(connection, method, args);
        });
    }

    private interface Handler {
        @Nullable
        Object handle(Method method, Object @Nullable [] args) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
        return type.cast(Proxy.newProxyInstance(
                FailingSource.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, args) -> handler.handle(method, args)));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
