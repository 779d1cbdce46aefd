// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring;

import io.postrider.Envelope;
import io.postrider.OutboxEvent;
import io.postrider.OutboxException;
import io.postrider.handler.Context;
import io.postrider.handler.Handled;
import io.postrider.handler.Handlers;
import io.postrider.handler.Route;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The methods of an application's beans that handle events. Immutable. */
public final class HandlerMethods {
    private final List<HandlerMethod> methods;
    private final Supplier<@Nullable EventJson> json;

    /** One of them: what is called, which may be a method of an interface, and what it takes. */
    private record HandlerMethod(Object bean, Method method, Type message, HandlesEvent handles) {}

    private HandlerMethods(List<HandlerMethod> methods, Supplier<@Nullable EventJson> json) {
        this.methods = methods;
        this.json = json;
    }

    /**
     * Finds them; call it when all beans are there.
     *
     * @param json reads payloads; asked for when a method needs it
     * @throws OutboxException if a method has parameters or a result that a handler cannot have, or cannot be called
     */
    public static HandlerMethods of(ListableBeanFactory beans, Supplier<@Nullable EventJson> json) {
        List<HandlerMethod> found = new ArrayList<>();
        for (String name : beans.getBeanNamesForType(Object.class, false, false)) {
            Class<?> type = beans.getType(name, false);
            if (type == null) {
                continue;
            }
            // A proxy of interfaces does not show what is behind it, and is of beans that are there already.
            Class<?> own = Proxy.isProxyClass(type)
                    ? AopProxyUtils.ultimateTargetClass(beans.getBean(name))
                    : ClassUtils.getUserClass(type);
            Map<Method, HandlesEvent> annotated =
                    MethodIntrospector.selectMethods(own, (MethodIntrospector.MetadataLookup<@Nullable HandlesEvent>)
                            method -> AnnotatedElementUtils.findMergedAnnotation(method, HandlesEvent.class));
            annotated.forEach((method, handles) -> {
                check(method);
                Object bean = beans.getBean(name);
                Method invocable = invocable(method, bean);
                ReflectionUtils.makeAccessible(invocable);
                found.add(new HandlerMethod(bean, invocable, method.getGenericParameterTypes()[0], handles));
            });
        }
        return new HandlerMethods(List.copyOf(found), json);
    }

    private static void check(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        boolean takes = parameters.length == 1 || (parameters.length == 2 && parameters[1] == Context.class);
        boolean returns = method.getReturnType() == void.class || method.getReturnType() == Handled.class;
        if (!takes || !returns) {
            throw new OutboxException("Method " + method + " cannot handle events: it must take a message, or a message"
                    + " and a Context, and return nothing or Handled. Change it.");
        }
    }

    /** That of the proxy, if the bean is behind one: what is declared besides, such as a transaction, applies then. */
    private static Method invocable(Method method, Object bean) {
        try {
            return AopUtils.selectInvocableMethod(method, bean.getClass());
        } catch (IllegalStateException e) {
            if (!Proxy.isProxyClass(bean.getClass())) {
                throw e;
            }
            // Without the cause, which says the same.
            throw new OutboxException("Method " + method + " cannot handle events: its bean is a proxy that has the"
                    + " methods of interfaces alone. Add the method to an interface of the bean, or set"
                    + " spring.aop.proxy-target-class=true.");
        }
    }

    /** All streams that have a handler here. */
    public Set<String> streams() {
        return methods.stream().map(each -> each.handles.stream()).collect(Collectors.toUnmodifiableSet());
    }

    /** Registers those of these streams. */
    public void register(Handlers.Builder handlers, Set<String> streams) {
        for (HandlerMethod each : methods) {
            if (streams.contains(each.handles.stream())) {
                register(handlers.on(each.handles.stream(), each.handles.type()), each);
            }
        }
    }

    private void register(Route<OutboxEvent> route, HandlerMethod each) {
        Type type = each.message;
        if (type == OutboxEvent.class) {
            route.handle((event, context) -> invoke(each, event, context));
        } else if (type == Envelope.class) {
            route.as(Envelope::parse).handle((envelope, context) -> invoke(each, envelope, context));
        } else {
            EventJson mapper = json.get();
            if (mapper == null) {
                throw new OutboxException("Method " + each.method + " takes a " + type.getTypeName() + ", and there is"
                        + " nothing that reads JSON. Add Jackson, or an EventJson bean, or take an OutboxEvent.");
            }
            route.as(payload -> mapper.read(payload, type)).handle((body, context) -> invoke(each, body, context));
        }
    }

    private static Handled invoke(HandlerMethod each, Object message, Context context) throws Exception {
        try {
            Object result = each.method.getParameterCount() == 1
                    ? each.method.invoke(each.bean, message)
                    : each.method.invoke(each.bean, message, context);
            return result instanceof Handled handled ? handled : Handled.done();
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            if (e.getCause() instanceof Error thrown) {
                throw thrown;
            }
            throw e;
        }
    }
}
