// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.internal.JsonReader;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RedactionTest {
    @Test
    void whatIsHiddenIsHiddenWhereverItIs() {
        Redaction redaction = Redaction.standard().hide("iban").showToViewers("Tenant");
        assertThat(redaction
                        .payload("{\"a\": [{\"API_Key\": {\"x\": 1}, \"IBAN\": 7, \"n\": 1.10}]}")
                        .text())
                .isEqualTo("{\"a\": [{\"API_Key\": \"[hidden]\", \"IBAN\": \"[hidden]\", \"n\": 1.10}]}");
        assertThat(redaction.payload("{ \"plain\" : 1 }")).isEqualTo(new Redaction.Text("{ \"plain\" : 1 }", false));
        assertThat(redaction.payload("user=kim password=x9").text()).isEqualTo("user=kim password=[hidden]");
        assertThat(redaction.headers(Map.of("tenant", "n", "Set-Cookie", "c"), Role.VIEWER))
                .containsEntry("tenant", "n")
                .containsEntry("Set-Cookie", "[hidden]");
        assertThat(JsonReader.read(redaction.payload("[\"password\"]").text())).isEqualTo(List.of("password"));
    }
}
