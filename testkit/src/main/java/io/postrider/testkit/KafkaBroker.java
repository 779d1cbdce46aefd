// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/** One run of a broker, from start to end. */
sealed interface KafkaBroker {
    Duration START_LIMIT = Duration.ofSeconds(90);
    Duration STOP_LIMIT = Duration.ofSeconds(30);

    /** Shuts it down in order. */
    void stop();

    /** In this JVM. */
    record Inside(KafkaRaftServer server) implements KafkaBroker {
        static Inside start(Map<String, String> properties) {
            Properties all = new Properties();
            properties.forEach(all::setProperty);
            format(properties);
            KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(all, false), Time.SYSTEM);
            server.startup();
            return new Inside(server);
        }

        private static void format(Map<String, String> properties) {
            Formatter formatter = new Formatter()
                    .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                    .setClusterId("cG9zdHJpZGVyLXRlc3RraQ")
                    .setNodeId(Integer.parseInt(required(properties, "node.id")))
                    .setDirectories(List.of(required(properties, "log.dirs")))
                    .setMetadataLogDirectory(required(properties, "log.dirs"))
                    .setControllerListenerName(required(properties, "controller.listener.names"))
                    .setReleaseVersion(MetadataVersion.latestProduction())
                    .setIgnoreFormatted(true);
            try {
                formatter.run();
            } catch (Exception e) {
                throw new IllegalStateException("Kafka's directory could not be formatted", e);
            }
        }

        private static String required(Map<String, String> properties, String name) {
            String value = properties.get(name);
            if (value == null) {
                throw new IllegalArgumentException("Kafka needs the property " + name);
            }
            return value;
        }

        @Override
        public void stop() {
            server.shutdown();
            server.awaitShutdown();
        }
    }

    /** In a JVM of its own. */
    record Outside(ChildJvm jvm) implements KafkaBroker {
        private static final String READY = "postrider-kafka-broker-ready";

        static Outside start(Map<String, String> properties, Path file, List<String> options) {
            Properties all = new Properties();
            properties.forEach(all::setProperty);
            try (Writer writer = Files.newBufferedWriter(file)) {
                all.store(writer, null);
            } catch (IOException e) {
                throw new UncheckedIOException("Kafka's properties could not be written", e);
            }
            ChildJvm jvm = ChildJvm.of(Main.class)
                    .jvmOptions(options.toArray(String[]::new))
                    .args(file.toString())
                    .start();
            try {
                jvm.awaitLine(READY::equals, START_LIMIT);
            } catch (RuntimeException e) {
                jvm.close();
                throw e;
            }
            return new Outside(jvm);
        }

        @Override
        public void stop() {
            jvm.resume();
            jvm.terminate();
            jvm.awaitExit(STOP_LIMIT);
            jvm.close();
        }
    }

    /** What the child JVM runs. */
    final class Main {
        private Main() {}

        /** Takes the file with the broker's properties. */
        public static void main(String[] args) throws IOException {
            Properties read = new Properties();
            try (Reader reader = Files.newBufferedReader(Path.of(args[0]))) {
                read.load(reader);
            }
            Map<String, String> properties = new HashMap<>();
            read.stringPropertyNames().forEach(name -> properties.put(name, read.getProperty(name)));
            Inside broker = Inside.start(properties);
            ShutdownHook.add(new Thread(broker::stop, "postrider-kafka-close"));
            System.out.println(Outside.READY);
            broker.server().awaitShutdown();
        }
    }
}
