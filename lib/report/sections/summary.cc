// The summary before the sections, and after them where the numbers come from.
#include <algorithm>
#include <cmath>
#include <set>

#include "metrics/common_folder.h"
#include "metrics/families.h"
#include "metrics/groups.h"
#include "metrics/metric.h"
#include "metrics/present.h"
#include "report/sections/matrix.h"
#include "stream/text.h"

namespace dnn::report {
namespace {

constexpr size_t kMostGroups = 6;     // sentences on runs that differ
constexpr size_t kFewTableRuns = 12;  // beyond, the table of all runs is folded

std::string points_text(double value) { return number_text(value, "%+.2f"); }

bool is_same(const VerdictGroup& group) { return group.finding == Finding::Same || group.finding == Finding::NearTies; }

// "shapes_wrong (5 runs)", or the run itself.
std::string who(const Data& data, const VerdictGroup& group) {
  const Run& run = data.runs[group.verdicts[0].run];
  if (group.of_models) return run.model;
  if (group.verdicts.size() == 1) return run.full();
  std::vector<uint32_t> runs;
  for (const Verdict& v : group.verdicts) runs.push_back(static_cast<uint32_t>(v.run));
  std::sort(runs.begin(), runs.end());
  return cat(counted(runs.size(), "run"), " of ", run.model, " (", letters(data, runs, 4), ")");
}

// Are they the same?
void add_sameness(const Data& data, const std::vector<VerdictGroup>& groups, Points* points) {
  for (const bool of_models : {true, false}) {
    size_t n = 0, n_same = 0, n_near = 0, n_unknown = 0;
    for (const VerdictGroup& group : groups) {
      if (group.of_models != of_models) continue;
      const size_t runs = group.verdicts.size();
      n += runs;
      if (is_same(group)) n_same += runs;
      if (group.finding == Finding::NearTies) n_near += runs;
      if (group.finding == Finding::NotComparable) n_unknown += runs;
    }
    if (n == 0) continue;
    Line line = Line().add("Same?", {}, true).add(" ");
    line.add(of_models ? cat("Against the baseline ", data.runs[data.evaluation.baseline].full(), ", ")
                       : std::string("Within each model, "));
    line.add(cat(n_same, " of ", counted(n, of_models ? "other model" : "run"),
                 n == 1 || n_same == 1 ? " gives" : " give", " the same predictions",
                 of_models ? "" : " as the model's plainest run"));
    if (n_near > 0)
      line.add(cat(" (", n_near == n_same ? "all" : cat(n_near),
                   " but for near ties: samples where two labels score alike and rounding decides)"));
    if (n_unknown > 0) line.add(cat("; of ", n_unknown, " no label can be compared"));
    points->items.push_back(line.add("."));
  }
}

// What is better or worse, and is it real? Without truth: what differs.
void add_differences(const Data& data, const std::vector<VerdictGroup>& groups, Points* points) {
  size_t n_said = 0, n_left_out = 0;
  for (const VerdictGroup& group : groups) {
    if (is_same(group) || group.finding == Finding::NotComparable) continue;
    if (n_said == kMostGroups) {
      ++n_left_out;
      continue;
    }
    ++n_said;
    const Verdict& v = group.verdicts[0];
    const bool real = group.finding == Finding::Worse || group.finding == Finding::Better;
    Line line = Line().add(group.finding == Finding::Worse    ? "Worse:"
                           : group.finding == Finding::Better ? "Better:"
                           : v.flips * 2 > v.n_common         ? "Very different:"
                                                              : "Different:",
                           {}, true);
    line.add(" " + who(data, group));
    line.add(cat(" against ", group.of_models ? "the baseline" : data.runs[v.base].full(), ". "));
    line.add(cat("The label differs on ", group.verdicts.size() > 1 ? "up to " : "", v.flips, " of ",
                 counted(v.n_common, "sample"), v.near_ties > 0 ? cat(", near ties (", v.near_ties, ") aside") : "",
                 ". "));
    if (v.change && *v.change == 0 && v.low && v.high && *v.low == *v.high) {
      line.add("Top-1 accuracy is the same: no sample is right in one of them and wrong in the other.");
    } else if (v.change && v.low && v.high && v.p) {
      line.add(cat("Top-1 accuracy ", points_text(*v.change), " percentage points, 95 % interval ", points_text(*v.low),
                   " to ", points_text(*v.high), ", p = ", number_text(*v.p, "%.2g")));
      if (v.holm && *v.holm != *v.p)
        line.add(cat(", ", number_text(*v.holm, "%.2g"), " after correction for several tests"));
      line.add(real ? "." : ": the test shows no change of accuracy, and rules out none within that interval.");
    }
    points->items.push_back(std::move(line));
  }
  if (n_left_out > 0)
    points->items.push_back(Line().add(cat("And ", counted(n_left_out, "group"), " more in the table below.")));
}

void add_accuracy(const Data& data, Points* points) {
  std::optional<double> best, worst;
  std::vector<uint32_t> at_best, at_worst;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const std::optional<double> value = value_of(data.evaluation.runs[i].values, "top1_accuracy");
    if (!value) continue;
    if (!best || *value > *best) at_best.clear();
    if (!best || *value >= *best) at_best.push_back(static_cast<uint32_t>(i));
    if (!worst || *value < *worst) at_worst.clear();
    if (!worst || *value <= *worst) at_worst.push_back(static_cast<uint32_t>(i));
    best = std::max(best.value_or(*value), *value);
    worst = std::min(worst.value_or(*value), *value);
  }
  if (!best) return;
  const auto named = [&](const std::vector<uint32_t>& runs) {
    return cat(value_text(data.evaluation.runs[runs[0]].values, "top1_accuracy"), " % (", data.runs[runs[0]].full(),
               runs.size() > 1 ? cat(" and ", counted(runs.size() - 1, "other")) : "", ")");
  };
  Line line = Line().add("Accuracy:", {}, true).add(" ");
  if (*best == *worst) {
    line.add(
        cat("top-1 ", value_text(data.evaluation.runs[at_best[0]].values, "top1_accuracy"), " % in every run",
            *best == 0 ? ". It tells nothing: the truth may have other labels, or the model is not trained." : "."));
  } else {
    line.add(cat("top-1 from ", named(at_worst), " to ", named(at_best), "."));
  }
  points->items.push_back(std::move(line));
}

// What does it cost?
void add_times(const Data& data, Points* points) {
  std::optional<size_t> fastest;
  const auto median = [&](size_t run) { return value_of(data.evaluation.runs[run].values, "latency_median"); };
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (median(i) && (!fastest || *median(i) < *median(*fastest))) fastest = i;
  }
  if (!fastest) return;
  const auto named = [&](size_t run) {
    return cat(data.runs[run].full(), ", median ", value_text(data.evaluation.runs[run].values, "latency_median"),
               " ms");
  };
  Line line = Line().add("Cost?", {}, true).add(" ").add(cat("The fastest run is ", named(*fastest)));
  const size_t base = data.evaluation.baseline;
  if (*fastest != base && median(base) && *median(*fastest) > 0)
    line.add(cat("; ", number_text(*median(base) / *median(*fastest), "%.2f"), " times as fast as ", named(base)));
  points->items.push_back(line.add("."));
}

void add_layers(const Data& data, Points* points) {
  for (const Localization& found : data.localizations) {
    Line line = Line().add("Where?", {}, true).add(" ").add(cat(found.target, " against ", found.source, ": "));
    if (!found.findings.empty()) {
      const Localization::Finding& finding = found.findings[0];
      line.add(cat(finding.what, "."));
      if (!finding.fix.empty()) line.add(cat(" Fix: ", finding.fix, "."));
      if (found.findings.size() > 1) line.add(cat(" ", counted(found.findings.size() - 1, "more finding"), "."));
    } else {
      line.add(found.first ? cat("the first layer that diverges is ", found.first->name, ".") : "no layer diverges.");
    }
    points->items.push_back(std::move(line));
  }
}

Table runs_table(const Data& data) {
  Table table{"summary-runs", "The runs", {{"run"}}, {}};
  struct Field {
    std::string title;
    bool number;
    std::vector<std::string> of_run;
  };
  std::vector<Field> fields = {
      {"model", false, {}},
      {"level", false, {}},
      {"device", false, {}},
      {"isa", false, {}},
      {"dtype", false, {}},
      {"samples", true, {}},
      {"top-1 %", true, {}},
      {"median ms", true, {}},
      {cat("same as ", data.runs.empty() ? "" : data.runs[data.evaluation.baseline].letter, " %"), true, {}}};
  std::vector<std::string> same(data.runs.size());
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (i == data.evaluation.baseline) continue;
    const metrics::Values& values = metrics::pair_of(data.evaluation, i, data.evaluation.baseline).values;
    if (values.contains("top1_agreement")) same[i] = value_text(values, "top1_agreement");
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
                 {"shards", join(run.shards)},
                 {"missing shards", metrics::shard_note(run)},
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

namespace {

// The name of the folder that the samples have in common; "" for none.
std::string data_set(const Data& data) {
  metrics::CommonFolder folder;
  for (const SampleLists& sample : data.samples) folder.add(sample.file);
  if (data.samples.empty()) return "";
  const std::string& file = data.samples[0].file;
  std::string common = file.substr(0, file.size() - folder.below(file).size());
  while (common.ends_with('/')) common.pop_back();
  return common.substr(common.rfind('/') + 1);
}

// What the runs are of: samples, classes, machine, versions, dates.
Line facts_line(const Data& data) {
  std::set<std::string> labels, machines, versions, dates, preprocessings;
  for (const metrics::RunReport& run : data.evaluation.runs) {
    const stream::Header& h = run.header;
    const auto note = [&](const char* key, std::set<std::string>* to) {
      if (const auto at = h.host.find(key); at != h.host.end()) to->insert(at->second);
    };
    if (!h.label_set.empty()) labels.insert(quoted(h.label_set));
    if (const std::string name = metrics::field_text(h, "preprocess"); name != "-" && name.size() < 40)
      preprocessings.insert(name);
    note("cpu", &machines);
    note("dnn_tools", &versions);
    note("date", &dates);
  }
  std::string text = cat(counted(data.runs.size(), "run"), " on ", counted(data.samples.size(), "sample"));
  if (const std::string name = data_set(data); !name.empty()) text += cat(" of ", name);
  const auto add = [&](const char* what, const std::set<std::string>& values) {
    if (values.empty()) return;
    text += cat("; ", what, " ", *values.begin());
    if (values.size() > 1) text += cat(" and ", counted(values.size() - 1, "other"));
  };
  add("label set", labels);
  add("preprocessing", preprocessings);
  add("on", machines);
  add("dnn-tools", versions);
  if (!dates.empty()) text += cat("; ", *dates.begin(), dates.size() > 1 ? cat(" to ", *dates.rbegin()) : "");
  return text + ".";
}

}  // namespace

Section summary(const Data& data, const Options&) {
  Section section{"summary", "At a glance", {}, {}};
  if (!data.runs.empty()) section.blocks.push_back(Paragraph{facts_line(data)});
  for (const std::string& warning : data.warnings) section.blocks.push_back(Paragraph{warning, true});
  Points points;
  const std::vector<VerdictGroup> groups = verdict_groups(data);
  add_sameness(data, groups, &points);
  add_differences(data, groups, &points);
  add_layers(data, &points);
  add_accuracy(data, &points);
  add_times(data, &points);
  if (!points.items.empty()) section.blocks.push_back(std::move(points));
  for (Block& block : matrix_figures(data, groups)) section.blocks.push_back(std::move(block));
  if (data.runs.empty()) {
    section.blocks.push_back(
        Paragraph{"There is no run in what was read.", data.localizations.empty() && data.branched.empty()});
  } else {
    if (!groups.empty()) section.blocks.push_back(groups_table(data, groups));
    if (data.runs.size() <= kFewTableRuns) {
      section.blocks.push_back(runs_table(data));
    } else {
      section.blocks.push_back(Fold{"runs", cat("All ", data.runs.size(), " runs"), {runs_table(data)}});
    }
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
