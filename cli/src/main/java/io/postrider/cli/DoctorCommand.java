// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.ops.Checkup;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Look at everything that is known to go wrong. Ends with 3 if there is a problem.")
final class DoctorCommand implements Callable<Integer> {
    private final Console console;

    @Mixin
    private Format format = new Format();

    DoctorCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        Access access = console.access();
        List<Checkup.Finding> findings =
                Checkup.of(access.dataSource(), access.tables()).run();
        if (format.json()) {
            new Table<Checkup.Finding>()
                    .firm("check", Checkup.Finding::check)
                    .firm("level", Checkup.Finding::level)
                    .loose("what", Checkup.Finding::what)
                    .loose("advice", Checkup.Finding::advice)
                    .print(console.out(), findings, true);
        } else {
            findings.forEach(this::print);
        }
        boolean problem = findings.stream().anyMatch(each -> each.level() == Checkup.Level.PROBLEM);
        return problem ? Exit.NOTHING : Exit.DONE;
    }

    private void print(Checkup.Finding finding) {
        console.out().printf("%-8s %-12s %s%n", finding.level(), finding.check(), Shown.clean(finding.what()));
        if (!finding.advice().isEmpty()) {
            console.out().printf("%21s -> %s%n", "", Shown.clean(finding.advice()));
        }
    }
}
