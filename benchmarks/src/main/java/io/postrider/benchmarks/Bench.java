// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.io.PrintStream;

/** The command line. */
public final class Bench {
    private Bench() {}

    /** Exits with 0, with 1 if a measurement failed, with 2 if the arguments make no sense. */
    public static void main(String[] args) {
        System.exit(run(System.out, System.err, args));
    }

    static int run(PrintStream out, PrintStream err, String... args) {
        if (args.length > 0 && args[0].equals("--help")) {
            out.print(Options.USAGE);
            return 0;
        }
        try {
            Options options = Options.parse(args);
            Scenario scenario = scenario(options);
            try (Rig rig = Rig.start()) {
                run(rig, scenario, new Output(out, options.json()), err);
            }
            return 0;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            err.println();
            err.print(Options.USAGE);
            return 2;
        } catch (Exception e) {
            err.println("The measurement failed:");
            e.printStackTrace(err);
            return 1;
        }
    }

    static void run(Rig rig, Scenario scenario, Output output, PrintStream err) throws Exception {
        output.print(scenario.measure(rig, line -> err.println("# " + line)).rows());
    }

    static Scenario scenario(Options options) {
        return switch (options.scenario()) {
            case "drain" -> new DrainScenario(options);
            case "latency" -> new LatencyScenario(options);
            case "append" -> new AppendScenario(options);
            case "inbox" -> new InboxScenario(options);
            case "queue" -> new QueueScenario(options);
            case "due" -> new DueScenario(options);
            case "dashboard" -> new DashboardScenario(options);
            case "startup" -> new StartupScenario(options);
            case "held" -> new HeldScenario(options);
            default -> new IdleScenario(options);
        };
    }
}
