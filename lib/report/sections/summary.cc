// The summary before the sections, and after them where the numbers come from.
#include <algorithm>
#include <cmath>

#include "metrics/groups.h"
#include "metrics/metric.h"
#include "metrics/present.h"
#include "report/sections/sections.h"
#include "stream/text.h"

namespace dnn::report {
namespace {

using metrics::PairReport;

std::string pair_name(const Data& data, const PairReport& pair) {
  return cat(data.runs[pair.other].full(), " against ", data.runs[pair.base].full());
}

// Do they agree?
void add_agreement(const Data& data, Points* points) {
  for (const bool within : {true, false}) {
    size_t n = 0, n_same = 0;
    const PairReport* least = nullptr;
    for (const PairReport& pair : data.evaluation.pairs) {
      const std::optional<double> same = value_of(pair.values, "top1_agreement");
      if (!same || (data.runs[pair.base].model == data.runs[pair.other].model) != within) continue;
      ++n;
      n_same += *same == 100;
      if (least == nullptr || *same < *value_of(least->values, "top1_agreement")) least = &pair;
    }
    if (n == 0) continue;
    Line line = Line()
                    .add("Agreement", {}, true)
                    .add(cat(within ? " of runs of one model: " : " of runs of different models: "));
    line.add(cat(n_same, " of ", counted(n, "pair"), n == 1 ? " has" : " have",
                 " the same best label for every common sample"));
    if (n_same < n)
      line.add(cat("; least agree ", pair_name(data, *least), ": ", value_text(least->values, "top1_agreement"), " %, ",
                   flips_of(*least), " of ", least->n_common, " samples differ"));
    points->items.push_back(line.add("."));
  }
}

// Which is better, and is the difference real?
void add_accuracy(const Data& data, Points* points) {
  std::optional<double> best, worst;
  std::vector<uint32_t> at_best;
  size_t worst_run = 0;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const std::optional<double> value = value_of(data.evaluation.runs[i].values, "top1_accuracy");
    if (!value) continue;
    if (!best || *value > *best) at_best.clear();
    if (!best || *value >= *best) {
      best = value;
      at_best.push_back(static_cast<uint32_t>(i));
    }
    if (!worst || *value < *worst) {
      worst = value;
      worst_run = i;
    }
  }
  if (!best) return;
  Line line = Line().add("Accuracy", {}, true);
  if (*best == *worst) {
    line.add(cat(": top-1 ", value_text(data.evaluation.runs[at_best[0]].values, "top1_accuracy"), " % in every run."));
  } else {
    line.add(cat(": top-1 from ", value_text(data.evaluation.runs[worst_run].values, "top1_accuracy"), " % (",
                 data.runs[worst_run].full(), ") to ",
                 value_text(data.evaluation.runs[at_best[0]].values, "top1_accuracy"), " % (",
                 data.runs[at_best[0]].full(),
                 at_best.size() > 1 ? cat(" and ", counted(at_best.size() - 1, "other")) : "", ")."));
  }
  points->items.push_back(std::move(line));

  // The largest difference: of those that are real, if any is.
  size_t n = 0, n_real = 0, n_changed = 0;
  const PairReport* largest = nullptr;
  bool largest_is_real = false;
  for (const PairReport& pair : data.evaluation.pairs) {
    const std::optional<double> p = value_of(pair.values, "mcnemar_p_holm"),
                                change = value_of(pair.values, "accuracy_change");
    if (!p || !change) continue;
    ++n;
    n_changed += *change != 0;
    const bool real = *p < 0.05;
    n_real += real;
    if (largest == nullptr || real > largest_is_real ||
        (real == largest_is_real && std::fabs(*change) > std::fabs(*value_of(largest->values, "accuracy_change")))) {
      largest = &pair;
      largest_is_real = real;
    }
  }
  if (n == 0) return;
  Line line_of_differences = Line().add("Differences of accuracy", {}, true);
  if (n_changed == 0) {
    line_of_differences.add(cat(": none in ", counted(n, "pair"), "."));
  } else {
    line_of_differences.add(
        cat(": ", n_changed, " of ", counted(n, "pair"), " differ, ", n_real == 0 ? "none" : cat(n_real),
            " by more than chance explains (McNemar's test, p < 0.05 after Holm's correction for ", counted(n, "pair"),
            "); most ", pair_name(data, *largest), ": ", value_text(largest->values, "accuracy_change"),
            " percentage points, 95 % interval ", value_text(largest->values, "accuracy_change_low"), " to ",
            value_text(largest->values, "accuracy_change_high"), ", corrected p ",
            value_text(largest->values, "mcnemar_p_holm"), "."));
  }
  points->items.push_back(std::move(line_of_differences));
}

// What does it cost?
void add_times(const Data& data, Points* points) {
  std::optional<size_t> fastest, slowest;
  const auto median = [&](size_t run) { return value_of(data.evaluation.runs[run].values, "latency_median"); };
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (!median(i)) continue;
    if (!fastest || *median(i) < *median(*fastest)) fastest = i;
    if (!slowest || *median(i) > *median(*slowest)) slowest = i;
  }
  if (!fastest) return;
  const auto named = [&](size_t run) {
    return cat(data.runs[run].full(), ", ", value_text(data.evaluation.runs[run].values, "latency_median"), " ms");
  };
  Line line = Line().add("Time", {}, true);
  if (fastest == slowest) {
    points->items.push_back(line.add(cat(": median latency of ", named(*fastest), ".")));
  } else {
    points->items.push_back(line.add(
        cat(": by median latency the fastest is ", named(*fastest), "; the slowest is ", named(*slowest), ".")));
  }
}

void add_layers(const Data& data, Points* points) {
  for (const Localization& found : data.localizations) {
    Line line = Line().add("Divergence", {}, true).add(cat(" of ", found.target, " from ", found.source, ": "));
    points->items.push_back(found.first ? line.add(cat("first in layer ", found.first->name, ".")) : line.add("none."));
  }
}

Table runs_table(const Data& data) {
  Table table{"summary-runs", "The runs", {{"run"}}, {}};
  struct Field {
    std::string title;
    bool number;
    std::vector<std::string> of_run;
  };
  std::vector<Field> fields = {{"model", false, {}},
                               {"level", false, {}},
                               {"device", false, {}},
                               {"isa", false, {}},
                               {"dtype", false, {}},
                               {"samples", true, {}},
                               {"top-1 %", true, {}},
                               {"median ms", true, {}},
                               {cat("same as ", data.runs.empty() ? "" : data.runs[0].letter, " %"), true, {}}};
  std::vector<std::string> same(data.runs.size());
  for (const PairReport& pair : data.evaluation.pairs) {
    if (pair.base == 0 && pair.values.contains("top1_agreement"))
      same[pair.other] = value_text(pair.values, "top1_agreement");
  }
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const metrics::RunReport& run = data.evaluation.runs[i];
    const stream::Header& h = run.header;
    const auto value = [&](std::string_view key) {
      return run.values.contains(key) ? value_text(run.values, key) : "";
    };
    const std::string cells[] = {
        data.runs[i].model,     metrics::level_text(h),  h.device, h.isa, h.dtype, cat(run.n_predictions),
        value("top1_accuracy"), value("latency_median"), same[i]};
    for (size_t f = 0; f < fields.size(); ++f) fields[f].of_run.push_back(cells[f]);
  }
  std::erase_if(fields, [](const Field& field) {
    return std::all_of(field.of_run.begin(), field.of_run.end(), [](const std::string& cell) { return cell.empty(); });
  });
  for (const Field& field : fields) table.columns.push_back({field.title, field.number});
  for (size_t i = 0; i < data.runs.size(); ++i) {
    std::vector<Cell> row = {data.runs[i].letter};
    for (const Field& field : fields) row.emplace_back(field.of_run[i].empty() ? "-" : field.of_run[i]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const metrics::RunReport& run) {
  const stream::Header& h = run.header;
  Facts facts = {{"tool", h.tool},
                 {"command", join(h.command, " ")},
                 {"model", h.model.path},
                 {"sha256", h.model.sha256},
                 {"format", h.model.format},
                 {"level", metrics::level_text(h)},
                 {"device", h.device},
                 {"isa", h.isa},
                 {"dtype", h.dtype},
                 {"label set", h.label_set},
                 {"label offset", h.label_offset == 0 ? "" : cat(h.label_offset)},
                 {"preprocessing", h.preprocess},
                 {"batch", h.batch ? cat(*h.batch) : ""},
                 {"threads", h.threads ? cat(*h.threads) : ""},
                 {"affinity", h.affinity},
                 {"topology", h.topology ? stream::topology_text(*h.topology) : ""},
                 {"shard", h.shard},
                 {"latency is of", h.latency_contains}};
  for (const auto& [key, value] : h.host) facts.emplace_back("host " + key, value);
  facts.emplace_back("samples", cat(run.n_samples));
  facts.emplace_back("predictions", cat(run.n_predictions));
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

Points points_of(const Facts& facts) {
  Points points;
  for (const auto& [key, value] : facts) points.items.push_back(Line().add(key, {}, true).add(": " + value));
  return points;
}

}  // namespace

Section summary(const Data& data, const Options&) {
  Section section{"summary", "At a glance", {}, {}};
  for (const std::string& warning : data.warnings) section.blocks.push_back(Paragraph{warning, true});
  Points points;
  add_agreement(data, &points);
  add_accuracy(data, &points);
  add_times(data, &points);
  add_layers(data, &points);
  if (!points.items.empty()) section.blocks.push_back(std::move(points));
  if (data.runs.empty()) {
    section.blocks.push_back(Paragraph{"There is no run in what was read.", data.localizations.empty()});
  } else {
    section.blocks.push_back(runs_table(data));
  }
  return section;
}

Section provenance(const Data& data) {
  Section section{"provenance", "Where the numbers come from", {}, {}};
  if (!data.runs.empty()) {
    std::vector<Facts> facts;
    for (const metrics::RunReport& run : data.evaluation.runs) facts.push_back(facts_of(run));
    Facts common;
    for (const auto& fact : facts[0]) {
      const bool everywhere = std::all_of(facts.begin(), facts.end(), [&](const Facts& other) {
        return std::find(other.begin(), other.end(), fact) != other.end();
      });
      if (everywhere) common.push_back(fact);
    }
    if (!common.empty())
      section.blocks.push_back(
          Fold{"", facts.size() == 1 ? data.runs[0].full() : "What all runs have in common", {points_of(common)}});
    for (size_t i = 0; i < facts.size(); ++i) {
      std::erase_if(facts[i],
                    [&](const auto& fact) { return std::find(common.begin(), common.end(), fact) != common.end(); });
      if (!facts[i].empty()) section.blocks.push_back(Fold{"", data.runs[i].full(), {points_of(facts[i])}});
    }
  }
  Table table{"provenance-metrics",
              "What the columns mean",
              {{"metric"}, {"column"}, {"of"}, {"unit"}, {"better"}, {"meaning"}},
              {}};
  for (const metrics::Row& row : metrics::rows()) {
    if (row.title.empty()) continue;
    table.rows.push_back({std::string(row.key), std::string(row.title),
                          row.scope == metrics::Scope::Run    ? "a run"
                          : row.scope == metrics::Scope::Pair ? "a pair"
                                                              : "all runs",
                          std::string(row.unit), std::string(metrics::better_name(row.better)), std::string(row.text)});
  }
  section.blocks.push_back(Fold{"", "What the columns mean", {std::move(table)}});
  return section;
}

}  // namespace dnn::report
