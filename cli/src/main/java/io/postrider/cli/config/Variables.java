// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli.config;

import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Puts the environment into values: a dollar sign and a name in braces, or a name, a colon and what holds without it; two
 * dollar signs before a brace stand for one. Done after the file was understood, so that no value can change what the file
 * says besides.
 */
record Variables(Function<String, @Nullable String> environment) {
    private static final Pattern PLACE = Pattern.compile("\\$\\$\\{|\\$\\{([^}:]*)(?::([^}]*))?(})?");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** Why a value cannot be made. */
    static final class Missing extends Exception {
        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message, null, false, false);
        }
    }

    String in(String text) throws Missing {
        if (!text.contains("${")) {
            return text;
        }
        Matcher place = PLACE.matcher(text);
        StringBuilder filled = new StringBuilder();
        while (place.find()) {
            place.appendReplacement(filled, Matcher.quoteReplacement(value(place)));
        }
        return place.appendTail(filled).toString();
    }

    private String value(Matcher place) throws Missing {
        if (place.group().equals("$${")) {
            return "${";
        }
        String name = place.group(1);
        if (place.group(3) == null || !NAME.matcher(name).matches()) {
            throw new Missing("has a ${ that names no variable. Write ${NAME} or ${NAME:default}, or $${ for itself.");
        }
        String value = environment.apply(name);
        if (value != null && !value.isEmpty()) {
            return value;
        }
        if (place.group(2) == null) {
            throw new Missing(
                    "the environment variable " + name + " is not set. Set it, or write ${" + name + ":default}.");
        }
        return place.group(2);
    }
}
