// SPDX-License-Identifier: Apache-2.0
package io.postrider.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScriptsTest {
    /** What databases out there were made by. A change belongs in a script of its own, not in one of these. */
    private static final List<String> SHA_256 = List.of(
            "cb523b98f501117cef68f5dcca39e509b251285495e8c1ecdb3b4fb450df4755",
            "e4eaaecffd58576d0a4658bf9624b042b36303eda19e427558c381baad129cb7");

    @Test
    void scriptsThatWereRunSomewhereAreNeverEdited() {
        assertThat(Schema.scripts()).extracting(script -> sha256(script.sql())).containsExactlyElementsOf(SHA_256);
    }

    @Test
    void versionsAreNumberedAndNameTheLibrariesThatCanUseThem() {
        int version = 0;
        int usableFrom = 1;
        for (Schema.Script script : Schema.scripts()) {
            version++;
            assertThat(script.version()).isEqualTo(version);
            assertThat(script.name()).startsWith("V" + version + "__");
            assertThat(script.usableFrom())
                    .as("what one script has taken away the next does not bring back")
                    .isBetween(usableFrom, version);
            usableFrom = script.usableFrom();
        }
        assertThat(Schema.latestVersion()).isEqualTo(version);
    }

    private static String sha256(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
