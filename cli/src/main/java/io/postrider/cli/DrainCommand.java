// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.cli.config.RelayConfig;
import io.postrider.jdbc.OrderedFeed;
import io.postrider.kafka.KafkaPublisher;
import io.postrider.ops.Backlog;
import io.postrider.ops.Relays;
import io.postrider.ops.Streams;
import io.postrider.relay.DrainResult;
import io.postrider.relay.Relay;
import io.postrider.relay.RelaySettings;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "drain",
        mixinStandardHelpOptions = true,
        description = {
            "Deliver to Kafka what no running relay owns, once, and end: for a scheduled job, or while no relay runs.",
            "Ends with 0 if nothing is left, 3 if something is, 4 if that belongs to running relays."
        })
final class DrainCommand implements Callable<Integer> {
    /** Of streams that nobody has set up, too. */
    private static final String DEFAULT_GROUP = "default";

    private static final Duration LONGEST = Duration.ofDays(365);

    private final Console console;

    @Option(
            names = "--bootstrap-servers",
            paramLabel = "HOST:PORT,...",
            description =
                    "Where Kafka is; default: as the YAML file of a server has it for the group, with its topics and format.")
    private @Nullable String servers;

    @Option(names = "--producer-config", paramLabel = "FILE", description = "Properties of Kafka's producer.")
    private @Nullable Path producerConfig;

    @Option(names = "--stream", paramLabel = "NAME", description = "This stream alone.")
    private @Nullable String stream;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "The streams of this group of relays; default: that of --stream, else default.")
    private @Nullable String group;

    @Option(names = "--max", paramLabel = "N", description = "Deliver at most about so many.")
    private long max = Long.MAX_VALUE;

    @Option(names = "--deadline", paramLabel = "SECONDS", description = "Take nothing more after so many seconds.")
    private long deadline = LONGEST.toSeconds();

    DrainCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        if (max < 1 || deadline < 1 || deadline > LONGEST.toSeconds()) {
            throw new Refusal(Exit.USAGE, "--max and --deadline must be 1 or more.");
        }
        DataSource source = console.access().dataSource();
        String itsGroup = group(source);
        OrderedFeed.Builder feed =
                OrderedFeed.builder(source).tables(console.access().tables()).group(itsGroup);
        if (stream != null) {
            feed.onlyStream(stream);
        }
        DrainResult result = relay(feed.build(), itsGroup).drain(max, Duration.ofSeconds(deadline));
        console.say("%d delivered, %d to be tried again, %d dead."
                .formatted(result.published(), result.retrying(), result.dead()));
        return left(source, itsGroup);
    }

    /** As the file of a server has it, unless options say where Kafka is. */
    private Relay relay(OrderedFeed feed, String itsGroup) throws IOException {
        Optional<RelayConfig> config =
                servers == null && producerConfig == null ? console.access().relay(itsGroup) : Optional.empty();
        KafkaPublisher publisher = config.isPresent()
                ? config.get().kafka().publisher().build()
                : KafkaPublisher.create(producer(itsGroup));
        RelaySettings.Builder relay = Relay.from(feed)
                .to(publisher)
                .name("drain-" + ProcessHandle.current().pid());
        config.ifPresent(given -> {
            relay.retry(given.retry()).window(given.window());
            if (given.kafka().deadLetterTopic().isPresent()) {
                relay.listener(publisher.deadLetterCopies());
            }
        });
        return relay.build();
    }

    private String group(DataSource source) {
        Optional<Streams.Known> known = Streams.of(source, console.access().tables()).known().stream()
                .filter(each -> each.name().equals(stream))
                .findFirst();
        if (known.isPresent() && known.get().mode().equals("COMPETING")) {
            throw new Refusal(
                    Exit.USAGE,
                    "Stream " + stream + " is a competing one: its events are for handlers, not for Kafka."
                            + " Start one of its workers.");
        }
        String its = known.map(Streams.Known::group).orElse(group == null ? DEFAULT_GROUP : group);
        if (group != null && !group.equals(its)) {
            throw new Refusal(
                    Exit.USAGE,
                    "Stream " + stream + " belongs to group " + its + ", not to " + group + ". Leave out --group.");
        }
        return its;
    }

    private Properties producer(String itsGroup) throws IOException {
        Properties properties = new Properties();
        if (producerConfig != null) {
            if (!Files.isReadable(producerConfig)) {
                throw new Refusal(Exit.USAGE, "The file " + producerConfig + " cannot be read. Give another one.");
            }
            try (Reader reader = Files.newBufferedReader(producerConfig)) {
                properties.load(reader);
            }
        }
        if (servers != null) {
            properties.setProperty("bootstrap.servers", servers);
        }
        if (!properties.containsKey("bootstrap.servers")) {
            throw new Refusal(
                    Exit.USAGE,
                    "Kafka's address is missing. Give --bootstrap-servers HOST:PORT, or, with --config, the file of a server"
                            + " that has a relay of group " + itsGroup + ".");
        }
        return properties;
    }

    private int left(DataSource source, String itsGroup) {
        boolean left = Backlog.of(source, console.access().tables()).upTo(1).streams().stream()
                .filter(each -> !each.competing())
                .filter(each -> stream == null
                        ? each.group().orElse(DEFAULT_GROUP).equals(itsGroup)
                        : each.name().equals(stream))
                .anyMatch(each -> each.pending() + each.retrying() + each.leased() > 0);
        if (!left) {
            return Exit.DONE;
        }
        boolean others = Relays.of(source, console.access().tables()).members().stream()
                .anyMatch(each -> each.alive() && each.group().equals(itsGroup) && each.shards() > 0);
        console.remark(
                others
                        ? "postrider: what is left belongs to running relays. See: postrider relays"
                        : "postrider: something is left. See: postrider status");
        return others ? Exit.OTHERS : Exit.NOTHING;
    }
}
