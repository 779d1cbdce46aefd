// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AssetsTest {
    @Test
    void theLibrariesAreThoseThatWereChecked() throws IOException {
        List<String> wrong = new ArrayList<>();
        try (InputStream checksums =
                Objects.requireNonNull(Assets.class.getResourceAsStream("web/vendor/checksums.txt"))) {
            for (String line : new String(checksums.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList()) {
                String[] parts = line.split(" +", 2);
                try (InputStream in =
                        Objects.requireNonNull(Assets.class.getResourceAsStream("web/vendor/" + parts[1]))) {
                    if (!HexFormat.of()
                            .formatHex(Secret.sha256(in.readAllBytes()))
                            .equals(parts[0])) {
                        wrong.add(parts[1]);
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
    }
}
