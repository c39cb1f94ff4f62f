// The matrix of a report at a glance: models by what they ran with, what was found of each, and the groups behind it.
#include <algorithm>
#include <cmath>

#include "metrics/families.h"
#include "report/sections/matrix.h"

namespace dnn::report {
namespace {

constexpr size_t kMostModels = 60, kMostColumns = 60, kMostChanges = 40;

// The setting of a run, beyond its model: "-O0 cpu".
std::string setting_of(const Run& run) {
  const std::string rest = run.name.starts_with(run.model) ? run.name.substr(run.model.size()) : run.name;
  const size_t from = rest.find_first_not_of(' ');
  return from == std::string::npos ? "run" : rest.substr(from);
}

struct Grid {
  std::vector<std::string> models, settings;
  std::vector<std::vector<size_t>> runs;  // by cell, row by row
};

Grid grid_of(const Data& data) {
  Grid grid;
  std::vector<size_t> first;  // by setting, a run
  const std::vector<size_t> order = runs_in_order(data);
  for (const size_t i : order) {
    if (std::find(grid.models.begin(), grid.models.end(), data.runs[i].model) == grid.models.end())
      grid.models.push_back(data.runs[i].model);
    const std::string setting = setting_of(data.runs[i]);
    if (std::find(grid.settings.begin(), grid.settings.end(), setting) != grid.settings.end()) continue;
    grid.settings.push_back(setting);
    first.push_back(i);
  }
  std::vector<size_t> by(first.size());
  for (size_t i = 0; i < by.size(); ++i) by[i] = i;
  const auto key = [&](size_t i) {
    const stream::Header& h = data.evaluation.runs[first[i]].header;
    return std::tuple(h.device, h.isa, h.dtype, h.opt.value_or(-1));
  };
  std::stable_sort(by.begin(), by.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<std::string> settings;
  for (const size_t i : by) settings.push_back(grid.settings[i]);
  grid.settings = std::move(settings);
  grid.runs.resize(grid.models.size() * grid.settings.size());
  for (const size_t i : order) {
    const auto row = std::find(grid.models.begin(), grid.models.end(), data.runs[i].model) - grid.models.begin();
    const auto column =
        std::find(grid.settings.begin(), grid.settings.end(), setting_of(data.runs[i])) - grid.settings.begin();
    grid.runs[static_cast<size_t>(row) * grid.settings.size() + static_cast<size_t>(column)].push_back(i);
  }
  return grid;
}

// In percent; near ties count as agreement.
std::optional<double> agreement(const Data& data, size_t run) {
  if (run == data.evaluation.baseline) return 100;
  const metrics::PairReport& pair = metrics::pair_of(data.evaluation, run, data.evaluation.baseline);
  const std::optional<double> flips = value_of(pair.values, "flips");
  if (!flips || pair.n_common == 0) return std::nullopt;
  return 100 * (1 - *flips / static_cast<double>(pair.n_common));
}

template <class Value>
Heat heat_of(const Grid& grid, const Value& value, bool least) {
  Heat heat;
  const size_t n_rows = std::min(grid.models.size(), kMostModels), n = grid.settings.size(),
               n_columns = std::min(n, kMostColumns);
  heat.rows.assign(grid.models.begin(), grid.models.begin() + static_cast<std::ptrdiff_t>(n_rows));
  heat.columns.assign(grid.settings.begin(), grid.settings.begin() + static_cast<std::ptrdiff_t>(n_columns));
  heat.row_groups = heat.rows;
  heat.most_names = kMostModels;
  for (size_t r = 0; r < n_rows; ++r) {
    for (size_t c = 0; c < n_columns; ++c) {
      std::optional<double> cell;
      for (const size_t run : grid.runs[r * n + c]) {
        const std::optional<double> one = value(run);
        if (one) cell = !cell ? *one : least ? std::min(*cell, *one) : std::max(*cell, *one);
      }
      heat.cells.push_back(cell);
    }
  }
  return heat;
}

bool any(const Heat& heat) {
  return std::any_of(heat.cells.begin(), heat.cells.end(), [](const auto& cell) { return cell.has_value(); });
}

std::string_view finding_name(Finding finding) {
  switch (finding) {
    case Finding::Worse: return "worse";
    case Finding::Better: return "better";
    case Finding::Different: return "different";
    case Finding::NotComparable: return "not comparable";
    case Finding::NearTies: return "same but for near ties";
    case Finding::Same: return "same";
  }
  return "";
}

// Values of some runs: one, or from the least to the most.
std::string range_text(const Data& data, const VerdictGroup& group, std::string_view key) {
  std::optional<double> low, high;
  for (const Verdict& v : group.verdicts) {
    const std::optional<double> value = value_of(data.evaluation.runs[v.run].values, key);
    if (!value) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  if (!low) return "-";
  const std::string from = number_text(*low, row_of(key).format), to = number_text(*high, row_of(key).format);
  return from == to ? from : cat(from, " to ", to);
}

}  // namespace

Blocks matrix_figures(const Data& data, const std::vector<VerdictGroup>& groups) {
  Blocks blocks;
  Figures figures;
  if (data.runs.size() < 2) return blocks;
  const Grid grid = grid_of(data);
  Heat same = heat_of(
      grid, [&](size_t run) { return agreement(data, run); }, true);
  const std::string baseline = data.runs[data.evaluation.baseline].full();
  if (any(same)) {
    same.format = "%.1f";
    same.dark_is_low = true;
    same.unit = "% same label";
    figures.list.push_back(
        Figure{"glance-agreement", "Same? Each run against the baseline",
               cat("Share of common samples with the label that the baseline ", baseline,
                   " gives, near ties aside; the darker, the fewer. Of several runs in a cell, the least."),
               heat_map(same)});
  }
  std::vector<Dot> changes;
  for (const VerdictGroup& group : groups) {
    for (const Verdict& v : group.verdicts) {
      const bool first = &v == &group.verdicts[0];
      if (!v.change || !(group.of_models || (first && group.finding < Finding::NotComparable))) continue;
      const int series = group.finding == Finding::Worse ? 1 : group.finding == Finding::Different ? 4 : 0;
      const std::string name = group.of_models ? data.runs[v.run].model : data.runs[v.run].full();
      if (changes.size() < kMostChanges)
        changes.push_back({cat(finding_name(group.finding),
                               group.finding == Finding::Different ? ", no change of accuracy shown" : ""),
                           name, *v.change, v.low, v.high, series});
    }
  }
  if (!changes.empty())
    changes.insert(changes.begin(), Dot{"baseline", data.runs[data.evaluation.baseline].full(), 0, {}, {}, 5});
  if (!changes.empty())
    figures.list.push_back(
        Figure{"glance-change", "Better or worse? Change of top-1 accuracy",
               "Percentage points against the baseline, with the 95 % interval; models whose predictions are "
               "the same cannot change.",
               dots(changes, "change of top-1 accuracy, percentage points", {})});
  Heat cost = heat_of(
      grid, [&](size_t run) { return value_of(data.evaluation.runs[run].values, "latency_median"); }, true);
  if (any(cost)) {
    cost.format = "%.3g";
    cost.logarithmic = true;
    cost.unit = "ms";
    figures.list.push_back(
        Figure{"glance-latency", "Cost? Median latency of each run",
               "Milliseconds of a batch, by a logarithmic scale; the darker, the slower. Of several runs in a "
               "cell, the fastest.",
               heat_map(cost)});
  }
  if (!figures.list.empty()) blocks.push_back(std::move(figures));
  if (grid.models.size() > kMostModels || grid.settings.size() > kMostColumns)
    blocks.push_back(
        Paragraph{cat("The figures hold ", std::min(grid.models.size(), kMostModels), " of ",
                      counted(grid.models.size(), "model"), " and ", std::min(grid.settings.size(), kMostColumns),
                      " of ", counted(grid.settings.size(), "setting"), "."),
                  true});
  return blocks;
}

Table groups_table(const Data& data, const std::vector<VerdictGroup>& groups) {
  Table table{"summary-groups",
              "Runs by what is found of them",
              {{"found"},
               {"of"},
               {"runs", true},
               {"flips", true, "samples with another label, near ties aside; the most of the group"},
               {"near ties", true, "samples where rounding decides; the most of the group"},
               {"top-1 %", true},
               {"change pp", true, "of top-1 accuracy, of the run with the most flips"},
               {"95 % interval", true},
               {"p", true, "McNemar's exact test of this pair alone"},
               {"p Holm", true, "corrected within its family"},
               {"median ms", true}},
              {}};
  for (const VerdictGroup& group : groups) {
    const Verdict& v = group.verdicts[0];
    int64_t near_ties = 0;
    std::vector<uint32_t> runs;
    std::vector<std::string> models;
    for (const Verdict& one : group.verdicts) {
      near_ties = std::max(near_ties, one.near_ties);
      runs.push_back(static_cast<uint32_t>(one.run));
      const std::string& model = data.runs[one.run].model;
      if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
    }
    std::sort(runs.begin(), runs.end());
    const size_t n_models = models.size();
    models.resize(std::min<size_t>(models.size(), 6));
    std::string of = join(models);
    if (n_models > models.size()) of += cat(" and ", counted(n_models - models.size(), "other"));
    of += group.of_models ? " against the baseline" : " against the model's plainest run";
    if (group.finding < Finding::NearTies) of += cat(": ", letters(data, runs, 8));
    const auto number = [](const std::optional<double>& value, const char* format) {
      return value ? number_text(*value, format) : std::string("-");
    };
    table.rows.push_back({std::string(finding_name(group.finding)), of, cat(runs.size()), cat(v.flips), cat(near_ties),
                          range_text(data, group, "top1_accuracy"), number(v.change, "%+.2f"),
                          v.low ? cat(number(v.low, "%+.2f"), " to ", number(v.high, "%+.2f")) : "-",
                          number(v.p, "%.2g"), number(v.holm, "%.2g"), range_text(data, group, "latency_median")});
  }
  return table;
}

}  // namespace dnn::report
