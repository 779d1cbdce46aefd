// SPDX-License-Identifier: Apache-2.0
package io.postrider.faults;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a {@link RelayProcess} is told. Immutable. */
public record RelaySetup(String name, String url, String bootstrapServers, Map<String, String> options) {
    private static final String LEASE = "lease";
    private static final String WINDOW = "window";
    private static final String SEND_TIMEOUT = "sendTimeout";
    private static final String MAX_PAYLOAD = "maxPayload";
    private static final String HALT = "halt";
    private static final String REFUSED_KEY = "refusedKey";
    private static final String REFUSED_AFTER = "refusedAfter";
    private static final String WRITES_TO = "writesTo";
    private static final String WRITER_URL = "writerUrl";
    private static final String WRITER_RATE = "writerRate";
    private static final String SEED = "seed";
    private static final String WITHOUT_SHARDS = "withoutShards";
    private static final String DEADLY = "deadly";
    private static final String HANDLES = "handles";
    private static final String TAKES = "takes";
    private static final String BURNS = "burns";
    private static final String COMPETING = "competing";
    private static final String CLOCK = "clock";
    private static final String CLASSPATH = "classpath";

    public RelaySetup {
        options = Map.copyOf(options);
    }

    /** Reaches its database on these ports of this machine, whichever of them takes writes. */
    public RelaySetup at(int... ports) {
        String hosts =
                Arrays.stream(ports).mapToObj(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
        String choice = ports.length > 1 ? "&targetServerType=primary&hostRecheckSeconds=1" : "";
        return new RelaySetup(name, url.replaceFirst("127.0.0.1:[0-9]+", hosts) + choice, bootstrapServers, options);
    }

    /** How long a silent relay keeps its shards; the product's default unless given. */
    public RelaySetup lease(Duration lease) {
        return with(LEASE, lease.toString());
    }

    /** How many events may be in flight; the product's default unless given. */
    public RelaySetup window(int rows) {
        return with(WINDOW, Integer.toString(rows));
    }

    /** When a send to Kafka is in doubt; the product's default unless given. */
    public RelaySetup sendTimeout(Duration sendTimeout) {
        return with(SEND_TIMEOUT, sendTimeout.toString());
    }

    /** The largest payload; the product's default unless given. */
    public RelaySetup maxPayload(int bytes) {
        return with(MAX_PAYLOAD, Integer.toString(bytes));
    }

    /** Where the process dies. */
    public RelaySetup halt(Failpoint failpoint) {
        return with(HALT, failpoint.toString());
    }

    /** A key whose events are refused once each, and how long after they were sent. */
    public RelaySetup refuse(String key, Duration after) {
        return with(REFUSED_KEY, key).with(REFUSED_AFTER, after.toString());
    }

    /** Makes it an application that also writes events to this stream, and publishes them on commit. */
    RelaySetup writes(String url, String stream, int rate, long seed) {
        return with(WRITER_URL, url)
                .with(WRITES_TO, stream)
                .with(WRITER_RATE, Integer.toString(rate))
                .with(SEED, Long.toString(seed));
    }

    /** Has the application do nothing but publish on commit. */
    public RelaySetup withoutShards() {
        return with(WITHOUT_SHARDS, "true");
    }

    /** Makes it a worker of this stream, which keeps no order. */
    public RelaySetup competing(String stream) {
        return with(COMPETING, stream);
    }

    Optional<String> competing() {
        return option(COMPETING);
    }

    boolean hasShards() {
        return option(WITHOUT_SHARDS).isEmpty();
    }

    /** What an application writes, and as whom. */
    record Writing(String url, String stream, int rate, long seed) {}

    Optional<Writing> writing() {
        return option(WRITER_URL)
                .map(writer -> new Writing(
                        writer,
                        required(WRITES_TO, options.get(WRITES_TO)),
                        Integer.parseInt(required(WRITER_RATE, options.get(WRITER_RATE))),
                        Long.parseLong(required(SEED, options.get(SEED)))));
    }

    /** The type of events that end the process when it is about to send them. */
    public RelaySetup deadly(String type) {
        return with(DEADLY, type);
    }

    /** Gives events to handlers in the same process instead of Kafka, and how long each takes. */
    public RelaySetup handles(EffectHandlers.Kind kind, Duration takes) {
        return with(HANDLES, kind.name()).with(TAKES, takes.toString());
    }

    Optional<EffectHandlers.Kind> handles() {
        return option(HANDLES).map(EffectHandlers.Kind::valueOf);
    }

    Duration takes() {
        return option(TAKES).map(Duration::parse).orElse(Duration.ZERO);
    }

    /** Has so many threads of the process do nothing but take time from the others. */
    public RelaySetup burns(int threads) {
        return with(BURNS, Integer.toString(threads));
    }

    int burns() {
        return option(BURNS).map(Integer::valueOf).orElse(0);
    }

    /** By how much the clock of the process is wrong, such as {@code +90s}. */
    public RelaySetup clock(String offset) {
        return with(CLOCK, offset);
    }

    Optional<String> clock() {
        return option(CLOCK);
    }

    /** Where the process finds its classes; those of this one unless given. */
    public RelaySetup classpath(String classpath) {
        return with(CLASSPATH, classpath);
    }

    Optional<String> classpath() {
        return option(CLASSPATH);
    }

    Optional<Duration> lease() {
        return option(LEASE).map(Duration::parse);
    }

    Optional<Integer> window() {
        return option(WINDOW).map(Integer::valueOf);
    }

    Optional<Duration> sendTimeout() {
        return option(SEND_TIMEOUT).map(Duration::parse);
    }

    Optional<Integer> maxPayload() {
        return option(MAX_PAYLOAD).map(Integer::valueOf);
    }

    Optional<Failpoint> halt() {
        return option(HALT).map(Failpoint::parse);
    }

    Optional<String> deadly() {
        return option(DEADLY);
    }

    Optional<String> refusedKey() {
        return option(REFUSED_KEY);
    }

    Duration refusedAfter() {
        return option(REFUSED_AFTER).map(Duration::parse).orElse(Duration.ZERO);
    }

    /** As the arguments of a main method; {@link #parse} reads them. */
    String[] arguments() {
        Map<String, String> all = new LinkedHashMap<>(options);
        all.put("name", name);
        all.put("url", url);
        all.put("bootstrapServers", bootstrapServers);
        return all.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .toArray(String[]::new);
    }

    static RelaySetup parse(String[] arguments) {
        Map<String, String> all = new LinkedHashMap<>();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            all.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        return new RelaySetup(
                required("name", all.remove("name")),
                required("url", all.remove("url")),
                required("bootstrapServers", all.remove("bootstrapServers")),
                all);
    }

    private static String required(String name, @Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException("The argument " + name + " is missing");
        }
        return value;
    }

    private RelaySetup with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(options);
        more.put(name, value);
        return new RelaySetup(this.name, url, bootstrapServers, more);
    }

    private Optional<String> option(String name) {
        return Optional.ofNullable(options.get(name));
    }
}
