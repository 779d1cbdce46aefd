// SPDX-License-Identifier: Apache-2.0
package io.postrider.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** What the rounds of one scenario measured, and what follows from it. For one thread. */
final class Results {
    static final String OTHER_LOAD = "other_load";

    private final String scenario;
    private final String metric;
    private final List<String> references;
    private final Map<String, List<Map<String, Double>>> samples = new LinkedHashMap<>();
    private final Map<String, String> against = new HashMap<>();

    /**
     * @param metric what the variants are compared by
     * @param variants in the order in which they are shown
     * @param references the variants that the others are compared with
     */
    Results(String scenario, String metric, List<String> variants, List<String> references) {
        this.scenario = scenario;
        this.metric = metric;
        this.references = references;
        variants.forEach(variant -> samples.put(variant, new ArrayList<>()));
    }

    /** Compares each variant that is named with one other, and shows the least and the most of their ratios too. */
    Results comparing(Map<String, String> pairs) {
        against.putAll(pairs);
        return this;
    }

    void add(String variant, Map<String, Double> sample) {
        samples.computeIfAbsent(variant, name -> new ArrayList<>()).add(sample);
    }

    /** One row per variant: medians of all metrics, least and most of the main one, medians of the rounds' ratios. */
    List<Map<String, Object>> rows() {
        List<Map<String, Object>> rows = new ArrayList<>();
        samples.forEach((variant, rounds) -> {
            if (!rounds.isEmpty()) {
                rows.add(row(variant, rounds));
            }
        });
        return rows;
    }

    private Map<String, Object> row(String variant, List<Map<String, Double>> rounds) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("scenario", scenario);
        row.put("variant", variant);
        List<Double> main = values(rounds, metric);
        rounds.get(0).keySet().forEach(name -> {
            row.put(name, Numbers.rounded(Numbers.median(values(rounds, name))));
            if (name.equals(metric)) {
                row.put("min", Numbers.rounded(new TreeSet<>(main).first()));
                row.put("max", Numbers.rounded(new TreeSet<>(main).last()));
            }
        });
        for (String reference : references) {
            List<Map<String, Double>> others = samples.getOrDefault(reference, List.of());
            if (!reference.equals(variant) && others.size() == rounds.size()) {
                row.put("ratio_to_" + reference.replace('-', '_'), ratio(main, values(others, metric)));
            }
        }
        String other = against.getOrDefault(variant, variant);
        List<Map<String, Double>> others = samples.getOrDefault(other, List.of());
        if (!other.equals(variant) && others.size() == rounds.size()) {
            List<Double> ratios = ratios(main, values(others, metric));
            row.put("against", other);
            row.put("ratio", Numbers.rounded(Numbers.median(ratios)));
            row.put("ratio_min", Numbers.rounded(new TreeSet<>(ratios).first()));
            row.put("ratio_max", Numbers.rounded(new TreeSet<>(ratios).last()));
        }
        return row;
    }

    private static double ratio(List<Double> ours, List<Double> theirs) {
        return Numbers.rounded(Numbers.median(ratios(ours, theirs)));
    }

    /** Round by round, since what else runs on the machine changes. */
    private static List<Double> ratios(List<Double> ours, List<Double> theirs) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            ratios.add(ours.get(i) / theirs.get(i));
        }
        return ratios;
    }

    private static List<Double> values(List<Map<String, Double>> rounds, String name) {
        return rounds.stream()
                .map(round -> round.getOrDefault(name, Double.NaN))
                .toList();
    }
}
