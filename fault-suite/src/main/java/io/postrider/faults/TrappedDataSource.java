// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A data source whose statements pass a {@link Trap} before and after they are executed. Thread-safe. */
public final class TrappedDataSource {
    private TrappedDataSource() {}

    public static DataSource of(DataSource source, Trap trap) {
        return proxy(DataSource.class, (method, arguments) -> {
            Object result = invoke(source, method, arguments);
            return result instanceof Connection connection ? trapped(connection, trap) : result;
        });
    }

    private static Connection trapped(Connection connection, Trap trap) {
        return proxy(Connection.class, (method, arguments) -> {
            if (method.getName().equals("commit")) {
                long nth = trap.enter(Place.COMMIT);
                Object result = invoke(connection, method, arguments);
                trap.left(Place.COMMIT, nth);
                return result;
            }
            Object result = invoke(connection, method, arguments);
            if (result instanceof PreparedStatement statement && arguments[0] instanceof String text) {
                return Place.of(text)
                        .map(place -> trapped(statement, place, trap))
                        .orElse(statement);
            }
            return result;
        });
    }

    private static PreparedStatement trapped(PreparedStatement statement, Place place, Trap trap) {
        return proxy(PreparedStatement.class, (method, arguments) -> {
            if (!method.getName().startsWith("execute")) {
                return invoke(statement, method, arguments);
            }
            long nth = trap.enter(place);
            Object result = invoke(statement, method, arguments);
            trap.left(place, nth);
            return result;
        });
    }

    @FunctionalInterface
    private interface Call {
        @Nullable
        Object on(Method method, @Nullable Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Call call) {
        InvocationHandler handler =
                (self, method, arguments) -> call.on(method, arguments == null ? new Object[0] : arguments);
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object[] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
