// Bisecting rewrites and kernels; see bisect.h.
#include "localize/bisect.h"

#include <algorithm>

#include "localize/kernel_search.h"
#include "localize/rewrite_search.h"
#include "localize/searched_side.h"

namespace dnn {
namespace {

constexpr double kRunShare = 1.0 / 3;  // of the time, where that is limited: for running both sides

// The outcomes of both sides, by sample.
struct BothOutcomes {
  std::vector<Outcome> source, target;
};

// Runs both sides on the samples that there is time for.
BothOutcomes run_both(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& source,
                      const BisectSide& target, const BisectOptions& options, BisectReport* report) {
  SideRun a(model, source, {}), b(model, target, {});
  report->source_error = a.error();
  report->target_error = b.error();
  const Deadline share = options.deadline.until(kRunShare);
  BothOutcomes outcomes;
  for (const BisectSample& sample : samples) {
    if (!outcomes.source.empty() && share.stops()) break;
    outcomes.source.push_back(a.run(sample.inputs));
    outcomes.target.push_back(b.run(sample.inputs));
  }
  report->n_samples = outcomes.source.size();
  return outcomes;
}

// The samples that differ, those with another label first, then by how far.
std::vector<size_t> compare_sides(const BothOutcomes& outcomes, const OutputTolerance& tolerance,
                                  BisectReport* report) {
  std::vector<size_t> order;
  std::vector<Movement> movements;
  for (size_t i = 0; i < outcomes.source.size(); ++i) {
    const Outcome &right = outcomes.source[i], &doubted = outcomes.target[i];
    const Movement m = movement(right, doubted, tolerance);
    if (report->source_error.empty()) report->source_error = right.error;
    if (report->target_error.empty()) report->target_error = doubted.error;
    if (m.max_abs > report->max_abs) {
      report->max_abs = m.max_abs;
      report->largest = m.largest;
    }
    report->beyond_tolerance =
        report->beyond_tolerance || m.excess > 1 || !right.error.empty() || !doubted.error.empty();
    if (m.relabelled()) report->relabelled.push_back({i, m});
    if (m.relabelled() || m.excess > 1) order.push_back(i);
    if (i > 0 && m.excess > movements[report->differs_most].excess) report->differs_most = i;
    movements.push_back(m);
  }
  if (report->beyond_tolerance && order.empty()) order.push_back(0);  // neither side runs
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (movements[a].relabelled() != movements[b].relabelled()) return movements[a].relabelled();
    return movements[a].excess > movements[b].excess;
  });
  return order;
}

template <class T>
void append(std::vector<T>* list, std::vector<T> more) {
  for (T& item : more) list->push_back(std::move(item));
}

// With what was found left out on both sides (the target's first); nullopt where the time ends before all samples have run.
std::optional<BisectReport::After> without(const Graph& model, const std::vector<BisectSample>& samples, size_t n,
                                           const BisectSide& source, const BisectSide& target,
                                           const LeftOut (&left_out)[2], const BisectOptions& options) {
  SideRun a(model, source, left_out[1]), b(model, target, left_out[0]);
  BisectReport::After after;
  for (size_t i = 0; i < n; ++i) {
    if (options.deadline.stops()) return std::nullopt;
    const Outcome x = a.run(samples[i].inputs), y = b.run(samples[i].inputs);
    const Movement m = movement(x, y, options.tolerance);
    after.max_abs = std::max(after.max_abs, m.max_abs);
    after.relabelled += m.relabelled() ? 1 : 0;
    after.beyond_tolerance = after.beyond_tolerance || m.excess > 1 || !x.error.empty() || !y.error.empty();
  }
  return after;
}

}  // namespace

std::string_view fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::Wrong: return "wrong";
    case FaultKind::Rounding: return "rounding";
    case FaultKind::Breaks: return "breaks";
  }
  return "";
}

BisectReport bisect(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& source,
                    const BisectSide& target, const BisectOptions& options) {
  if (samples.empty()) throw Error(ErrorKind::Negative, "there is no sample to run");
  BisectReport report;
  const BothOutcomes outcomes = run_both(model, samples, source, target, options, &report);
  const std::vector<size_t> differing = compare_sides(outcomes, options.tolerance, &report);
  report.ran_out = options.deadline.ran_out();
  if (!report.differs()) return report;
  report.searched.assign(differing.begin(), differing.begin() + static_cast<std::ptrdiff_t>(
                                                                    std::min(differing.size(), options.n_searched)));

  LeftOut left_out[2];
  for (const bool of_source : {false, true}) {
    const BisectSide& side = of_source ? source : target;
    if (side.as_it_is != nullptr) continue;
    const SearchedSide searched(model, samples, side, of_source, report.searched, !report.beyond_tolerance,
                                options.tolerance);
    std::vector<Outcome> own;
    for (size_t i : report.searched) own.push_back(of_source ? outcomes.source[i] : outcomes.target[i]);
    const bool departs = searched.departs(searched.worst(own));
    (of_source ? report.source_departs : report.target_departs) = departs;
    if (!departs) continue;
    RewriteSearch rewrites = search_rewrites(searched, differing, options);
    left_out[of_source ? 1 : 0] = rewrites.left_out;
    append(&report.rewrites, std::move(rewrites.findings));
    append(&report.unfinished, std::move(rewrites.unfinished));
    append(&report.kernels, search_kernels(searched, rewrites.left_out, options));
  }

  const bool searched = source.as_it_is == nullptr && target.as_it_is == nullptr && !report.rewrites.empty();
  if (searched) report.after = without(model, samples, report.n_samples, source, target, left_out, options);
  report.ran_out = options.deadline.ran_out();
  return report;
}

}  // namespace dnn
