// SPDX-License-Identifier: Apache-2.0
package io.postrider.kafka;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What is logged while it is open: the only sign of some things. It also goes where it always does. */
final class LogLines implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream copy = new ByteArrayOutputStream();

    LogLines() {
        OutputStream both = new OutputStream() {
            @Override
            public void write(int each) {
                before.write(each);
                copy.write(each);
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                before.write(bytes, from, length);
                copy.write(bytes, from, length);
            }
        };
        System.setErr(new PrintStream(both, true, StandardCharsets.UTF_8));
    }

    boolean contain(String text) {
        return copy.toString(StandardCharsets.UTF_8).contains(text);
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
