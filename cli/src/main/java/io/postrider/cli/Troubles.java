// SPDX-License-Identifier: Apache-2.0
package io.postrider.cli;

import io.postrider.internal.Discretion;
import java.sql.SQLException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Says what went wrong in one line, and what to do about it. */
final class Troubles implements IExecutionExceptionHandler, IParameterExceptionHandler {
    private final Console console;

    Troubles(Console console) {
        this.console = console;
    }

    @Override
    public int handleExecutionException(Exception problem, CommandLine command, ParseResult parsed) {
        say(problem, advice(problem));
        if (console.access().debug()) {
            problem.printStackTrace(console.err());
        }
        return problem instanceof Refusal refusal ? refusal.exitCode() : Exit.FAILED;
    }

    @Override
    public int handleParseException(ParameterException problem, String[] args) {
        String help = problem.getCommandLine().getCommandSpec().qualifiedName() + " --help";
        say(problem, " See: " + help);
        return Exit.USAGE;
    }

    private void say(Exception problem, String advice) {
        String first = String.valueOf(problem.getMessage()).lines().findFirst().orElse("");
        String end = first.endsWith(".") || advice.isEmpty() ? "" : ".";
        console.remark("postrider: " + Discretion.withoutCredentials(first) + end + advice);
    }

    private static String advice(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return advice(sql.getSQLState());
            }
        }
        return "";
    }

    private static String advice(String state) {
        return switch (state) {
            case "08001", "08003", "08004", "08006" -> " Check that the server runs and that --url is right.";
            case "28000", "28P01" ->
                " Check --user and POSTRIDER_PASSWORD, or give --password without a value to be asked.";
            case "3D000" -> " Check the database's name in --url.";
            case "42P01", "42883", "42703", "3F000" ->
                " Postrider's tables are not there, or of another version: give --schema, or run: postrider doctor";
            case "42501" -> " This user may not do that: docs/guide/roles.md says which role may.";
            case "25006" -> " This server takes no writes: connect to the primary.";
            default -> "";
        };
    }
}
