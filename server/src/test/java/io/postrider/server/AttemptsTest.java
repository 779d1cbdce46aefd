// SPDX-License-Identifier: Apache-2.0
package io.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Passwords cannot be tried out: who has failed too often has to wait. */
class AttemptsTest {
    private static final String TOKEN = "operator-token-0123456789";
    private static final String OTHER = "other-token-0123456789";

    private final AtomicLong now = new AtomicLong(Duration.ofDays(1).toNanos());
    private final DashboardHandler.Access access = new DashboardHandler.Access(
            new Doorkeeper(Set.of()),
            Optional.of(TokenAuthenticator.of(
                    Map.of(TOKEN, new User("omar", Role.OPERATOR), OTHER, new User("kim", Role.VIEWER)))),
            new User("local", Role.OPERATOR),
            new Attempts(now::get),
            new Semaphore(1));

    @Test
    void afterTenFailuresAnAddressWaitsForTheRestOfAMinute() {
        fail("10.0.0.1", Attempts.MOST - 1);
        assertThat(ask("10.0.0.1", OTHER)).isEqualTo(200);
        assertThat(ask("10.0.0.1", "wrong")).isEqualTo(401);
        now.addAndGet(Duration.ofMillis(20_500).toNanos());
        Problem refused = catchThrowableOfType(Problem.class, () -> access.user(request("10.0.0.1", TOKEN)));
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.response().headers()).containsEntry("retry-after", "40");
        assertThat(refused).hasMessageContaining("Try again in 40 s.");
        now.addAndGet(Duration.ofMillis(39_500).toNanos());
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
    }

    @Test
    void anAddressThatIsRefusedKeepsNobodyElseOut() {
        fail("10.0.0.1", Attempts.MOST);
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(429);
        assertThat(ask("10.0.0.2", TOKEN)).isEqualTo(200);
    }

    @Test
    void whoSendsNothingHasNotTriedAndWhoIsNotKnownIsNotCounted() {
        IntStream.range(0, 50).forEach(i -> assertThat(ask("10.0.0.1", "")).isEqualTo(401));
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
        fail("", 50);
        assertThat(ask("", TOKEN)).isEqualTo(200);
    }

    @Test
    void aFloodFromManyAddressesIsNotRememberedForEver() {
        fail("10.0.0.1", Attempts.MOST);
        flood(Attempts.ADDRESSES - 1);
        assertThat(ask("10.0.0.1", TOKEN)).as("still known").isEqualTo(429);
        flood(Attempts.ADDRESSES);
        assertThat(ask("10.0.0.1", TOKEN)).as("forgotten for others").isEqualTo(200);
    }

    private void flood(int addresses) {
        IntStream.range(0, addresses).forEach(i -> ask("10.1." + i / 250 + "." + i % 250, "wrong"));
    }

    @Test
    void whoHasSignedInBeforeIsNotKeptOutByOthersAtTheSameAddress() {
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
        fail("10.0.0.1", Attempts.MOST);
        assertThat(ask("10.0.0.1", "wrong")).isEqualTo(429);
        assertThat(ask("10.0.0.1", OTHER)).as("not seen there before").isEqualTo(429);
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
        fail("10.0.0.2", Attempts.MOST);
        assertThat(ask("10.0.0.2", TOKEN)).as("from elsewhere").isEqualTo(429);
    }

    @Test
    void passwordsThatAreInUseCannotBeTriedOutEither() {
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
        IntStream.range(0, Attempts.MOST_AT_ALL).forEach(i -> ask("10.0.0.1", "wrong"));
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(429);
        now.addAndGet(Duration.ofMinutes(1).toNanos());
        assertThat(ask("10.0.0.1", TOKEN)).isEqualTo(200);
    }

    private void fail(String from, int times) {
        IntStream.range(0, times).forEach(i -> assertThat(ask(from, "wrong")).isEqualTo(401));
    }

    private int ask(String from, String token) {
        try {
            access.user(request(from, token));
            return 200;
        } catch (Problem e) {
            return e.status();
        }
    }

    private static Request request(String from, String token) {
        Map<String, String> headers = token.isEmpty() ? Map.of() : Map.of("authorization", "Bearer " + token);
        return new Request("GET", "/api/me", Map.of(), headers, new byte[0], from);
    }
}
