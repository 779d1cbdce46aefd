// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.DeadLetterQuery;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which dead letters. */
final class DeadFilter {
    @Option(names = "--stream", paramLabel = "NAME", description = "Of this stream.")
    private @Nullable String stream;

    @Option(names = "--key", paramLabel = "KEY", description = "Of this key.")
    private @Nullable String key;

    @Option(names = "--type", paramLabel = "TYPE", description = "Of this event type.")
    private @Nullable String type;

    @Option(names = "--error", paramLabel = "CODE", description = "With this error code.")
    private @Nullable String error;

    boolean isEmpty() {
        return stream == null && key == null && type == null && error == null;
    }

    DeadLetterQuery query(long afterId, int limit) {
        try {
            return new DeadLetterQuery(stream, key, type, error, null, afterId, limit);
        } catch (IllegalArgumentException e) {
            throw new Refusal(Exit.USAGE, String.valueOf(e.getMessage()));
        }
    }
}
