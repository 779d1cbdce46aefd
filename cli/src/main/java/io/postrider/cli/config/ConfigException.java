// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.util.List;

/** A file that cannot be used as it is, with everything that is wrong in it. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient List<String> problems;

    ConfigException(List<String> problems) {
        super(problems.size() == 1 ? problems.get(0) : problems.size() + " things are wrong: " + problems);
        this.problems = List.copyOf(problems);
    }

    /** One line each: the file, the line, the key, what was found, what is expected. */
    public List<String> problems() {
        return problems;
    }
}
