// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import picocli.CommandLine.Option;

/** For people or for scripts. */
final class Format {
    @Option(names = "--json", description = "As JSON: times in ISO 8601, ages in seconds.")
    private boolean json;

    boolean json() {
        return json;
    }
}
