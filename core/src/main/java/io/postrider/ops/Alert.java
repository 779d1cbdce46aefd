// SPDX-License-Identifier: Apache-2.0
package io.postrider.ops;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One message for people: a condition and all the streams or relays of which it is told at once. Holds no payload and no
 * header.
 *
 * @param at when it was so, on the database's clock
 * @param subjects at most {@link #MOST_SUBJECTS} of them
 * @param subjectCount how many there are
 * @param examples of dead letters, the first few
 */
public record Alert(
        AlertKind kind, State state, Instant at, List<Subject> subjects, int subjectCount, List<DeadLetter> examples) {
    public static final int MOST_SUBJECTS = 100;
    private static final int NAMED = 10;

    public Alert {
        subjects = List.copyOf(subjects);
        examples = List.copyOf(examples);
    }

    /** Why it is told. */
    public enum State {
        /** It is so, or it got worse. */
        RAISED,
        /** It is still so. */
        REMINDER,
        /** It is over. */
        ENDED
    }

    /**
     * A stream or a relay.
     *
     * @param value how much: events, keys or seconds, as the condition counts; 0 when it is over
     * @param text what is to be said of it
     */
    public record Subject(String name, long value, String text) {}

    public String title() {
        return switch (state) {
            case RAISED -> kind.title();
            case REMINDER -> kind.title() + " (reminder)";
            case ENDED -> kind.title() + " (over)";
        };
    }

    /** All that is said of the subjects, in one line. */
    public String text() {
        String named = subjects.stream().limit(NAMED).map(Subject::text).collect(Collectors.joining("; "));
        int others = subjectCount - Math.min(subjects.size(), NAMED);
        return others > 0 ? named + "; and " + others + " more" : named;
    }
}
