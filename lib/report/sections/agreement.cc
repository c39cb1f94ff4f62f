// Agreement: every two runs, as a heat map and as the numbers behind it.
#include <algorithm>

#include "metrics/metric.h"
#include "report/palette.h"
#include "report/sections/sections.h"

namespace dnn::report {
namespace {

constexpr size_t kMostRuns = 120;      // of the matrix
constexpr size_t kMostPairRows = 150;  // rows of the table of pairs
constexpr size_t kWorst = 50;          // of them, where not all are shown, beyond those against the first run

std::string short_cell(const std::optional<double>& value) {
  return value ? number_text(*value, *value == 100 ? "%.0f" : "%.1f") : "";
}

// Agreement of a run with the others, in %.
struct RunAgreement {
  double total = 0, least = 101;
  size_t n = 0, least_with = 0;

  void add(double same, size_t with) {
    total += same;
    ++n;
    if (same < least) {
      least = same;
      least_with = with;
    }
  }
};

// Agreement of runs: each with all others, and the first of them with each other.
struct Agreement {
  std::vector<size_t> order;  // runs, of which the matrix has the first n
  size_t n = 0;
  std::vector<RunAgreement> runs;            // by run
  std::vector<std::optional<double>> cells;  // [n, n], by place in the order
  double low = 100;                          // the least of them
  bool any = false;
};

Agreement agreement_of(const Data& data) {
  Agreement all;
  all.order = runs_in_order(data);
  all.n = std::min(all.order.size(), kMostRuns);
  all.runs.resize(data.runs.size());
  all.cells.resize(all.n * all.n);
  std::vector<size_t> place(all.order.size(), SIZE_MAX);  // by run
  for (size_t i = 0; i < all.n; ++i) place[all.order[i]] = i;
  for (const metrics::PairReport& pair : data.evaluation.pairs) {
    const std::optional<double> same = value_of(pair.values, "top1_agreement");
    if (!same) continue;
    all.any = true;
    all.runs[pair.base].add(*same, pair.other);
    all.runs[pair.other].add(*same, pair.base);
    const size_t row = place[pair.base], column = place[pair.other];
    if (row == SIZE_MAX || column == SIZE_MAX) continue;
    all.low = std::min(all.low, *same);
    all.cells[row * all.n + column] = same;
    all.cells[column * all.n + row] = same;
  }
  return all;
}

Figure figure_of(const Data& data, const Agreement& all) {
  Heat heat;
  heat.cells = all.cells;
  for (size_t i = 0; i < all.n; ++i) {
    const Run& run = data.runs[all.order[i]];
    heat.rows.push_back(run.full());
    heat.columns.push_back(run.letter);
    heat.row_groups.push_back(run.model);
  }
  heat.format = "%.1f";
  heat.dark_is_low = true;
  heat.unit = "%";
  heat.column_title = "top-1 agreement of every two runs, %";
  return {"agreement-figure", "Agreement of every two runs",
          "Share of common samples on which two runs have the same best label; the darker, the fewer. Empty "
          "cells: a run with itself, or two whose labels cannot be compared.",
          heat_map(heat)};
}

Table table_of_runs(const Data& data, const Agreement& all) {
  Table table{"agreement-runs",
              "Each run against the others",
              {{"run"}, {"with others, mean %", true}, {"least %", true}, {"with"}},
              {}};
  for (const size_t i : all.order) {
    const RunAgreement& run = all.runs[i];
    if (run.n == 0) continue;
    table.rows.push_back({data.runs[i].full(), number_text(run.total / static_cast<double>(run.n), "%.2f"),
                          number_text(run.least, "%.2f"), data.runs[run.least_with].full()});
  }
  return table;
}

Table matrix_of(const Data& data, const Agreement& all) {
  Table matrix{"agreement-matrix", "Top-1 agreement, %", {{"run"}}, {}};
  for (size_t j = 0; j < all.n; ++j)
    matrix.columns.push_back({data.runs[all.order[j]].letter, true, data.runs[all.order[j]].name});
  for (size_t i = 0; i < all.n; ++i) {
    std::vector<Cell> row = {data.runs[all.order[i]].full()};
    for (size_t j = 0; j < all.n; ++j) {
      const std::optional<double>& cell = all.cells[i * all.n + j];
      row.emplace_back(short_cell(cell), cell && all.low < 100 ? step_below(*cell, all.low, 100) : -1);
    }
    matrix.rows.push_back(std::move(row));
  }
  return matrix;
}

}  // namespace

Blocks section_agreement(const Data& data, const Options&) {
  const Agreement all = agreement_of(data);
  if (!all.any) return {};
  Blocks blocks;
  blocks.push_back(figure_of(data, all));
  blocks.push_back(table_of_runs(data, all));
  if (all.n < all.order.size()) {
    const std::string cut = cat("The figure and the matrix hold the first ", all.n, " of ", all.order.size(),
                                " runs; dnn-eval --json has all.");
    blocks.push_back(Paragraph{cut, true});
  }
  blocks.push_back(Fold{"", "The matrix as numbers", {matrix_of(data, all)}});
  return blocks;
}

Blocks section_pairs(const Data& data, const Options&) {
  Blocks blocks;
  const std::vector<metrics::PairReport>& pairs = data.evaluation.pairs;
  if (pairs.empty()) return blocks;
  std::vector<size_t> shown;
  if (pairs.size() <= kMostPairRows) {
    for (size_t i = 0; i < pairs.size(); ++i) shown.push_back(i);
  } else {
    std::vector<size_t> rest;
    for (size_t i = 0; i < pairs.size(); ++i)
      (pairs[i].base == data.evaluation.baseline && shown.size() < kMostPairRows ? shown : rest).push_back(i);
    std::stable_sort(rest.begin(), rest.end(), [&](size_t a, size_t b) {
      return value_of(pairs[a].values, "top1_agreement").value_or(101) <
             value_of(pairs[b].values, "top1_agreement").value_or(101);
    });
    rest.resize(std::min(rest.size(), kWorst));
    shown.insert(shown.end(), rest.begin(), rest.end());
    blocks.push_back(Paragraph{
        cat("Of ", pairs.size(), " pairs the table holds those with run ", data.runs[data.evaluation.baseline].letter,
            " and the ", rest.size(), " others that agree least; dnn-eval --json has all."),
        true});
  }
  std::vector<const metrics::Values*> values;
  for (const size_t i : shown) values.push_back(&pairs[i].values);
  const std::vector<std::string> keys = shown_keys(
      metrics::Scope::Pair, [](const metrics::Row&) { return true; }, values);
  Table table{"pairs-table", "Two runs on their common samples", {{"pair"}, {"common", true}}, {}};
  for (const std::string& key : keys) table.columns.push_back(column_of(key));
  std::vector<Line> notes;
  size_t n_notes = 0;
  for (const size_t i : shown) {
    const metrics::PairReport& pair = pairs[i];
    const Run &base = data.runs[pair.base], &other = data.runs[pair.other];
    const std::string name = cat(other.letter, " against ", base.letter);
    std::vector<Cell> row = {cat(other.full(), " against ", base.full()), cat(pair.n_common)};
    for (const std::string& key : keys) row.emplace_back(value_text(pair.values, key));
    table.rows.push_back(std::move(row));
    if (!pair.note.empty() && ++n_notes <= 20) notes.emplace_back(cat(name, ": ", pair.note));
  }
  blocks.push_back(std::move(table));
  if (n_notes > notes.size()) notes.emplace_back(cat("and ", n_notes - notes.size(), " more"));
  if (!notes.empty()) blocks.push_back(Points{std::move(notes)});
  blocks.push_back(Paragraph{
      cat("A p is the probability of a difference at least this large if there was none. A large p does not say "
          "that two runs are equal: the interval says how far apart they may be. \"Holm\" corrects for the number "
          "of tests: the pairs with run ",
          data.runs[data.evaluation.baseline].letter,
          " are one family, the others another, and runs with the same predictions count once.")});
  return blocks;
}

}  // namespace dnn::report
