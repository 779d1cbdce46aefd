// SPDX-License-Identifier: Apache-2.0
package io.postrider.demo;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * What the user sees: lines, and below them in a terminal one block that is redrawn in place. Elsewhere the block is left
 * out. Thread-safe.
 */
final class Console {
    private static final String RED = "31";
    private static final String GREEN = "32";
    private static final String BOLD = "1";
    private static final String DIM = "2";
    private static final String ESCAPE = "\u001b[";

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    private final long start = System.nanoTime();
    private final boolean terminal;
    private final boolean colour;
    private List<String> block = List.of();
    private boolean silent;

    Console(boolean terminal, boolean colour) {
        this.terminal = terminal;
        this.colour = terminal && colour;
    }

    boolean isTerminal() {
        return terminal;
    }

    double seconds() {
        return (System.nanoTime() - start) / 1e9;
    }

    synchronized void line(String text) {
        print(clearBlock() + text + "\n" + String.join("", block));
    }

    /** Says when something went well. */
    void done(String what) {
        line(time() + paint(GREEN, "✓ ") + what);
    }

    /** Says when something went down. */
    void failed(String what) {
        line(time() + paint(RED, "✗ ") + what);
    }

    /** Draws the block anew; in a terminal only. */
    synchronized void block(List<String> lines) {
        if (terminal) {
            String clear = clearBlock();
            block = lines.stream().map(line -> line + "\n").toList();
            print(clear + String.join("", block));
        }
    }

    /** Leaves the block as it is; what follows is written below it. */
    synchronized void endBlock() {
        block = List.of();
    }

    /** The last line: whatever is written after it is not shown. */
    synchronized void last(String text) {
        line(text);
        silent = true;
    }

    String time() {
        return dim(String.format(Locale.ROOT, "%5.1f s  ", seconds()));
    }

    String bold(String text) {
        return paint(BOLD, text);
    }

    String dim(String text) {
        return paint(DIM, text);
    }

    String mark(boolean good) {
        return good ? paint(GREEN, "✓") : paint(RED, "✗");
    }

    private String paint(String code, String text) {
        return colour ? ESCAPE + code + "m" + text + ESCAPE + "0m" : text;
    }

    private String clearBlock() {
        return block.isEmpty() ? "" : ESCAPE + block.size() + "A" + ESCAPE + "J";
    }

    private void print(String text) {
        if (!silent) {
            out.print(text);
            out.flush();
        }
    }
}
