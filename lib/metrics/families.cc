// Families of tests; see families.h.
#include "metrics/families.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "metrics/groups.h"
#include "metrics/present.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

// The less a run differs from what the model's author ran, the lower.
int64_t plainness(const stream::Header& header) {
  if (header.device.starts_with("lib:")) return -2;
  if (header.device.starts_with("reference")) return -1;
  return header.opt.value_or(100);
}

// Each run's model, by the first run of it.
std::vector<size_t> models_of(const std::vector<RunReport>& runs) {
  std::map<std::string, size_t> first;
  std::vector<size_t> models;
  for (size_t i = 0; i < runs.size(); ++i) models.push_back(first.emplace(runs[i].header.model.path, i).first->second);
  return models;
}

size_t run_named(const std::vector<RunReport>& runs, const std::string& text) {
  using Name = std::string (*)(const std::vector<RunReport>&, size_t);
  constexpr std::array<Name, 4> kNames = {
      [](const std::vector<RunReport>&, size_t i) { return run_letter(i); },
      [](const std::vector<RunReport>& all, size_t i) { return run_title(all[i].header); },
      [](const std::vector<RunReport>& all, size_t i) { return all[i].header.model.path; },
      [](const std::vector<RunReport>& all, size_t i) { return field_text(all[i].header, "model"); }};
  for (const Name name : kNames) {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (name(runs, i) == text) return i;
    }
  }
  std::vector<std::string> titles;
  for (const RunReport& run : runs) titles.push_back(run_title(run.header));
  const std::string near = nearest_word(text, titles);
  fail_usage("--baseline ", quoted(text), ": no such run; name one by its letter (A to ", run_letter(runs.size() - 1),
             ") or its model", near.empty() ? "" : cat(", as ", quoted(near)));
}

enum Family : uint8_t { kModels, kRuns, kOthers };
constexpr std::array<Family, 3> kFamilies = {kModels, kRuns, kOthers};

Family family_of(const Report& report, const PairReport& pair) {
  if (held_against(report, pair.other) != pair.base) return kOthers;
  return report.own_run[pair.other] == pair.other ? kModels : kRuns;
}

bool is_of_times(const Row& row) { return row.file == "time_tests"; }

}  // namespace

void choose_baselines(Report* report, const std::string& text) {
  const std::vector<RunReport>& runs = report->runs;
  if (runs.empty()) return;
  const std::vector<size_t> models = models_of(runs);
  std::vector<size_t> own = models;  // by the first run of a model
  if (!text.empty()) {
    for (size_t i = 0; i < runs.size(); ++i) {
      size_t& best = own[models[i]];
      if (plainness(runs[i].header) < plainness(runs[best].header)) best = i;
    }
  }
  report->baseline = text.empty() || text == kPlainest ? own[0] : run_named(runs, text);
  own[models[report->baseline]] = report->baseline;
  report->own_run.clear();
  for (const size_t model : models) report->own_run.push_back(own[model]);
}

size_t held_against(const Report& report, size_t run) {
  return report.own_run[run] == run ? report.baseline : report.own_run[run];
}

const PairReport& pair_of(const Report& report, size_t a, size_t b) {
  const size_t low = std::min(a, b), high = std::max(a, b), n = report.runs.size();
  return report.pairs[low * n - low * (low + 1) / 2 + high - low - 1];
}

std::vector<size_t> runs_alike(const Report& report, const std::vector<size_t>& n_samples) {
  std::vector<size_t> alike(report.runs.size());
  for (size_t j = 0; j < alike.size(); ++j) {
    alike[j] = j;
    for (size_t i = 0; i < j; ++i) {
      if (alike[i] != i || n_samples[i] != n_samples[j]) continue;
      const PairReport& pair = pair_of(report, i, j);
      const auto same = pair.values.find("top1_agreement"), change = pair.values.find("accuracy_change");
      const bool all = pair.n_common == static_cast<int64_t>(n_samples[i]);
      if (!all || same == pair.values.end() || same->second != 100) continue;
      if (change != pair.values.end() && change->second != 0) continue;  // of different truths
      alike[j] = i;
      break;
    }
  }
  return alike;
}

void correct_for_many_tests(Report* report) {
  for (const Row& row : rows()) {
    const std::string corrected(holm_key(row.key));
    if (corrected.empty()) continue;
    for (const Family family : kFamilies) {
      // Hypotheses by the predictions that they compare, and the pairs that state each.
      std::map<std::tuple<size_t, size_t, double>, std::vector<PairReport*>> tests;
      for (PairReport& pair : report->pairs) {
        const auto p = pair.values.find(row.key);
        if (p == pair.values.end() || family_of(*report, pair) != family) continue;
        const size_t a = report->alike[pair.base], b = report->alike[pair.other];
        if (is_of_times(row)) {
          tests[{pair.base, pair.other, p->second}].push_back(&pair);
        } else if (a == b) {
          pair.values[corrected] = p->second;
        } else {
          tests[{std::min(a, b), std::max(a, b), p->second}].push_back(&pair);
        }
      }
      std::vector<double> p;
      for (const auto& [test, pairs] : tests) p.push_back(std::get<2>(test));
      const std::vector<double> adjusted = holm(p);
      size_t next = 0;
      for (const auto& [test, pairs] : tests) {
        for (PairReport* pair : pairs) pair->values[corrected] = adjusted[next];
        ++next;
      }
    }
  }
}

}  // namespace dnn::metrics
