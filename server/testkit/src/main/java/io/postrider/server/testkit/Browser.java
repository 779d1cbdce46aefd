// SPDX-License-Identifier: Apache-2.0
package io.postrider.server.testkit;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A real browser, looking at one dashboard. */
public final class Browser implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration POLL = Duration.ofMillis(30);

    private final ChromeDriver driver;
    private final Path profile;
    private final String url;
    private String shown = "";

    private Browser(ChromeDriver driver, Path profile, String url) {
        this.driver = driver;
        this.profile = profile;
        this.url = url;
    }

    /**
     * Skips the test, and says what to install, where there is no browser.
     *
     * @param url where the dashboard is, with a slash at the end
     */
    public static Browser at(String url) {
        Optional<Path> chromium = program("chromium", "chromium-browser", "google-chrome");
        Optional<Path> chromedriver = program("chromedriver");
        Assumptions.assumeTrue(
                chromium.isPresent() && chromedriver.isPresent(),
                "There is no browser. Install chromium and chromedriver (Debian: apt-get install chromium chromium-driver).");
        try {
            Path profile = Files.createTempDirectory("postrider-browser");
            ChromeOptions options = new ChromeOptions()
                    .setBinary(chromium.orElseThrow().toFile())
                    .addArguments(
                            "--headless=new",
                            "--no-sandbox",
                            "--disable-gpu",
                            "--disable-dev-shm-usage",
                            "--disable-background-networking",
                            "--disable-component-update",
                            "--disable-sync",
                            "--no-first-run",
                            "--hide-scrollbars",
                            "--user-data-dir=" + profile);
            LoggingPreferences logs = new LoggingPreferences();
            logs.enable(LogType.BROWSER, Level.ALL);
            options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
            ChromeDriverService service = new ChromeDriverService.Builder()
                    .usingDriverExecutable(chromedriver.orElseThrow().toFile())
                    .usingAnyFreePort()
                    .withLogFile(File.createTempFile("chromedriver", ".log", profile.toFile()))
                    .build();
            Browser browser = new Browser(new ChromeDriver(service, options), profile, url);
            browser.size(1280, 900);
            return browser;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Optional<Path> program(String... names) {
        return Stream.of(names)
                .flatMap(name -> Stream.of("/usr/bin/", "/usr/local/bin/", "/opt/google/chrome/")
                        .map(dir -> Path.of(dir + name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    public void size(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    }

    /** Loads the page anew, so that nothing is left of what another test looked at. */
    public void open(String page, String theme) {
        if (!theme.equals(shown)) {
            driver.get(url + "favicon.svg");
            driver.executeScript("localStorage.setItem('postrider.theme', arguments[0])", theme);
            shown = theme;
        }
        driver.get(url + "?" + System.nanoTime() + "#/" + page);
        find("h1");
    }

    /** Whatever is there, a page of the dashboard or not. */
    public void visit(String address) {
        driver.get(address);
    }

    /** As if one had never signed in here. */
    public void forget() {
        driver.executeCdpCommand("Network.clearBrowserCookies", Map.of());
        driver.executeScript("sessionStorage.clear()");
    }

    public void go(String page) {
        driver.executeScript("location.hash = '#/' + arguments[0]", page);
    }

    public @Nullable Object script(String text, Object... values) {
        return driver.executeScript(text, values);
    }

    public List<WebElement> all(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    /** The first that is there, as soon as it is. */
    public WebElement find(String css) {
        until(css, () -> !all(css).isEmpty());
        return all(css).get(0);
    }

    public String text(String css) {
        for (int attempt = 0; ; attempt++) {
            try {
                return find(css).getText();
            } catch (StaleElementReferenceException e) {
                if (attempt > 10) {
                    throw e;
                }
            }
        }
    }

    public void awaitText(String css, String text) {
        until(text + " in " + css, () -> text(css).contains(text));
    }

    /** Keeps a picture of what was there instead, for whoever has to find out why. */
    private void until(String what, Callable<Boolean> condition) {
        try {
            await(what)
                    .atMost(PATIENCE)
                    .pollInterval(POLL)
                    .pollDelay(Duration.ZERO)
                    .until(condition);
        } catch (ConditionTimeoutException e) {
            Path file =
                    Path.of("target", "browser-" + System.nanoTime() + ".png").toAbsolutePath();
            picture(file);
            throw new AssertionError("Not seen: " + what + "; see " + file, e);
        }
    }

    /** The button that says so, within the first of these. */
    public void press(String css, String label) {
        until(label, () -> {
            try {
                List<WebElement> buttons = find(css)
                        .findElements(By.xpath(".//button[not(@disabled) and normalize-space(.)='" + label + "']"));
                buttons.stream().limit(1).forEach(WebElement::click);
                return !buttons.isEmpty();
            } catch (StaleElementReferenceException e) {
                return false;
            }
        });
    }

    public void write(String css, String text) {
        WebElement field = find(css);
        field.sendKeys(Keys.chord(Keys.CONTROL, "a"), text);
    }

    public void type(String keys) {
        driver.switchTo().activeElement().sendKeys(keys);
    }

    /** What the browser complained of since the last call, but for requests that were answered with an error. */
    public List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(each -> each.getLevel().intValue() >= Level.WARNING.intValue())
                .map(Object::toString)
                .filter(each -> !each.contains("Failed to load resource"))
                .toList();
    }

    /** How each request that the page has sent was answered, such as {@code 200 http://localhost/app.js}. */
    public List<String> answers() {
        String text = String.valueOf(script("return performance.getEntriesByType('resource')"
                + ".map((each) => each.responseStatus + ' ' + each.name).join('\\n')"));
        return text.lines().toList();
    }

    /** The whole page. */
    public void picture(Path file) {
        int width = Integer.parseInt(String.valueOf(script("return innerWidth")));
        int height = Integer.parseInt(String.valueOf(script("return document.documentElement.scrollHeight")));
        size(width, height);
        Object data = driver.executeCdpCommand("Page.captureScreenshot", Map.of("format", "png"))
                .get("data");
        try {
            Files.createDirectories(file.resolveSibling("."));
            Files.write(file, Base64.getDecoder().decode(String.valueOf(data)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        driver.quit();
        try (Stream<Path> files = Files.walk(profile)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            // What the browser still holds goes with the machine's temporary files.
        }
    }
}
