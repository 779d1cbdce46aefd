// SPDX-License-Identifier: Apache-2.0
package io.postrider.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.postrider.OutboxException;
import io.postrider.relay.FeedException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DiscretionTest {
    @Test
    void whatTheDatabaseQuotesBehindItsFirstLineIsNotRepeated() {
        SQLException refused = new SQLException(
                "ERROR: new row violates check constraint \"c\"\n  Detail: Failing row contains (1, {\"card\": \"4711\"}).");
        assertThat(Discretion.firstLine(refused)).isEqualTo("ERROR: new row violates check constraint \"c\"");
        assertThat(Discretion.firstLine(new SQLException())).isEqualTo("null");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            jdbc:postgresql://db/shop?user=u&password=4711&ssl=true | jdbc:postgresql://db/shop?user=u&password=[hidden]&ssl=true
            cannot reach https://bob:4711@registry:8081/x           | cannot reach https://[hidden]@registry:8081/x
            PlainLoginModule required password="47 11";             | PlainLoginModule required password=[hidden];
            sslPassword = 4711, more                                | sslPassword =[hidden], more
            {"token": "4711", "id": 1}                              | {"token":[hidden], "id": 1}
            a token was refused: invalid                            | a token was refused: invalid
            stream s, key k                                         | stream s, key k
            """)
    void whatStandsInThePlaceOfAPasswordIsHidden(String text, String shown) {
        assertThat(Discretion.withoutCredentials(text)).isEqualTo(shown);
    }

    @Test
    void noExceptionOfOursShowsAPassword() {
        String quoting = "No driver for jdbc:x://db?password=4711";
        assertThat(new OutboxException(quoting)).hasMessage("No driver for jdbc:x://db?password=[hidden]");
        assertThat(new FeedException(quoting, new SQLException()))
                .hasMessage("No driver for jdbc:x://db?password=[hidden]");
    }
}
