// SPDX-License-Identifier: Apache-2.0
package io.postrider.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://localhost/orders",
                "jdbc:postgresql://127.0.0.1:5432/orders?user=kim&password=secret",
                "jdbc:postgresql://127.1.2.3/orders",
                "jdbc:postgresql://[::1]:5432/orders",
                "jdbc:postgresql://LOCALHOST:1,localhost:2/orders",
                "jdbc:postgresql:orders",
                "jdbc:postgresql:///orders"
            })
    void a_database_on_this_machine_may_be_migrated(String url) {
        assertThat(new Address(url).isLocal()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://db.example.com/orders",
                "jdbc:postgresql://localhost.example.com/orders",
                "jdbc:postgresql://127.0.0.1.example.com:5432/orders",
                "jdbc:postgresql://localhost,db2/orders",
                "jdbc:postgresql://10.0.0.7:5432/localhost",
                "jdbc:postgresql://localhost@db.example.com/orders",
                "jdbc:aws-wrapper:postgresql://db.example.com/orders",
                "jdbc:other:somewhere",
                "null"
            })
    void any_other_may_not(String url) {
        assertThat(new Address(url).isLocal()).isFalse();
    }

    @Test
    void what_may_be_a_secret_is_not_shown() {
        assertThat(new Address("jdbc:postgresql://kim:secret@db:5432/orders?password=secret"))
                .hasToString("jdbc:postgresql://db:5432/orders");
    }
}
