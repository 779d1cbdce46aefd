// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.io.PrintWriter;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What all commands of one call share: where they write, the environment, and how they reach the database. */
final class Console {
    private final PrintWriter out;
    private final PrintWriter err;
    private final Function<String, @Nullable String> environment;
    private final Access access;

    Console(PrintWriter out, PrintWriter err, Function<String, @Nullable String> environment) {
        this.out = out;
        this.err = err;
        this.environment = environment;
        this.access = new Access(this);
    }

    PrintWriter out() {
        return out;
    }

    PrintWriter err() {
        return err;
    }

    @Nullable
    String environment(String name) {
        String value = environment.apply(name);
        return value == null || value.isBlank() ? null : value;
    }

    Access access() {
        return access;
    }

    /** A line for people, with nothing in it that a terminal would obey. */
    void say(String line) {
        out.println(Shown.clean(line));
    }

    /** A line beside the result, which a script does not read. */
    void remark(String line) {
        err.println(Shown.clean(line));
    }
}
