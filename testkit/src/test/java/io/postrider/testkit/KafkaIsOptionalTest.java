// SPDX-License-Identifier: Apache-2.0
package io.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KafkaIsOptionalTest {

    @Test
    void onlyTheTypesNamedForKafkaNeedItsClasses() throws Exception {
        try (URLClassLoader without = classpathWithoutKafka()) {
            assertThatThrownBy(() -> load(without, "KafkaServer")).isInstanceOf(NoClassDefFoundError.class);
            List<String> names = typeNames();
            assertThat(names).hasSizeGreaterThan(20);
            for (String name : names) {
                load(without, name);
            }
        }
    }

    /** Makes the JVM look at every type that the class names in its fields and methods. */
    private static void load(ClassLoader loader, String name) throws ClassNotFoundException {
        Class<?> type = Class.forName("io.postrider.testkit." + name, true, loader);
        assertThat(type.getDeclaredFields()).isNotNull();
        assertThat(type.getDeclaredMethods()).isNotNull();
    }

    private static URLClassLoader classpathWithoutKafka() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!Path.of(entry).getFileName().toString().contains("kafka")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static List<String> typeNames() throws Exception {
        Path classes = Path.of(PostgresServer.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.list(classes.resolve("io/postrider/testkit"))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .filter(name -> !name.startsWith("Kafka") && !name.equals("package-info"))
                    .toList();
        }
    }
}
