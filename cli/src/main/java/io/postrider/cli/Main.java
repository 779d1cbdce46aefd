// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/** Where the executable begins. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        // UTF-8 wherever it runs: what Java takes from a bare environment is ASCII, and shows every letter as a
        // question.
        PrintWriter out = new PrintWriter(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        int code = Postrider.run(new Console(out, err, System.getenv()::get), args);
        out.flush();
        err.flush();
        System.exit(code);
    }
}
