// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import java.util.Map;

/** What is sent back. */
public sealed interface Answer permits Response, LiveAnswer {
    int status();

    Map<String, String> headers();
}
