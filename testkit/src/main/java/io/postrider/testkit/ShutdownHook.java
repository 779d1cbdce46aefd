// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

/** Work for the end of this JVM. */
final class ShutdownHook {
    private ShutdownHook() {}

    static void add(Thread hook) {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Takes it back; too late, and without effect, while the JVM is ending. */
    static void remove(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ending) {
            // The hook runs or has run: closing twice does nothing.
        }
    }
}
