// Searching rewrites; see rewrite_search.h.
#include "localize/rewrite_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/text.h"
#include "interp/interpreter.h"
#include "ops/quantization.h"

namespace dnn {
namespace {

constexpr double kRoundedShare = 0.1;       // of a rewrite's movement: as much of it in float64 is rounding still
constexpr double kRounding = 32 * 0x1p-23;  // of an output: what constants rounded to float32 may move it by
constexpr double kMovedIntegers = 0.05;     // of all: what sums that round otherwise may move by a step
constexpr size_t kMostLabelSamples = 32;    // that a finding's labels are looked at in

// True where the rewrite that leads from one graph to the other makes integers of 8 bits, and moves few of them, each by one: a sum on
// integers rounds once where one of real numbers rounds each product.
bool rounds_integers(const Graph& before, const Graph& after, const std::vector<Tensor>& inputs) {
  std::set<ValueId> made;  // by both graphs, in the second one by nodes that the first has not
  for (NodeId id : after.order()) {
    for (ValueId v : after.node(id).outputs) {
      if (id >= before.node_slots() && v != kNoValue && v < before.value_count()) made.insert(v);
    }
  }
  const auto values_of = [&](const Graph& graph) {
    std::map<ValueId, Tensor> values;
    interpret(graph, inputs, [&](const Graph& of, ValueId v, const Tensor& value) {
      if (&of == &graph && made.count(v) != 0) values[v] = value;
    });
    return values;
  };
  const std::map<ValueId, Tensor> first = values_of(before), other = values_of(after);
  int64_t all = 0, moved = 0;
  for (ValueId v : made) {
    const auto a = first.find(v), b = other.find(v);
    if (a == first.end() || b == other.end() || !is_byte(a->second.dtype()) || a->second.dtype() != b->second.dtype() ||
        a->second.shape() != b->second.shape())
      return false;
    const std::vector<int64_t> x = to_int64s(a->second), y = to_int64s(b->second);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::abs(x[i] - y[i]) > 1) return false;
      moved += x[i] != y[i] ? 1 : 0;
    }
    all += static_cast<int64_t>(x.size());
  }
  return all > 0 && static_cast<double>(moved) <= kMovedIntegers * static_cast<double>(all);
}

// The passes of rewrites number range.good + 1 to range.bad, in their order.
std::vector<std::string> passes_of(const Rewritten& whole, const BisectedRange& range) {
  std::vector<std::string> passes;
  for (int64_t i = range.good; i < range.bad; ++i) {
    if (passes.empty() || passes.back() != whole.applied[i].pass) passes.push_back(whole.applied[i].pass);
  }
  return passes;
}

class RewriteSearcher {
 public:
  RewriteSearcher(const SearchedSide& side, const std::vector<size_t>& differing, const BisectOptions& options)
      : side_(side), differing_(differing), options_(options) {}

  RewriteSearch run() {
    for (size_t n = 0; n < options_.max_findings && !options_.deadline.stops(); ++n) {
      const Rewritten whole = side_.rewritten_after(-1, result_.left_out);
      const WorstMovement all = side_.worst(side_.interpreted(whole));
      if (!side_.departs(all)) break;
      // Rewrites of a graph that breaks half-way are those before it, and the one that breaks it.
      if (!find_rewrite(whole, all, SearchedSide::first_limit(all))) break;
    }
    return std::move(result_);
  }

 private:
  Probe probe(int64_t n, double limit, const Rewritten& whole) const {
    Probe result;
    result.n_rewrites = n;
    for (const auto& [pass, end] : whole.ends) {
      if (end == n) result.after = pass;
    }
    const Rewritten graph = side_.rewritten_after(n, result_.left_out);
    const WorstMovement w = side_.worst(side_.interpreted(graph));
    result.max_abs = w.movement.max_abs;
    result.departs = side_.departs(w, limit) || !graph.error.empty();
    result.error = graph.error;
    if (!options_.note) return result;
    options_.note(cat(n, " of ", counted(whole.applied.size(), "rewrite"),
                      result.after.empty() ? "" : ", to the end of " + result.after,
                      result.departs ? ": departs" : ": agrees"));
    return result;
  }

  // Returns true if another rewrite should be searched for.
  bool find_rewrite(const Rewritten& whole, const WorstMovement& all, double limit) {
    RewriteFinding finding;
    finding.of_source = side_.of_source();
    const auto total = static_cast<int64_t>(whole.applied.size());
    if (total == 0) return false;  // the interpreter itself does not run the model
    if (!whole.error.empty() && !side_.rewritten_after(0, result_.left_out).error.empty())
      return false;  // a pass fails on its own; its error names it
    std::vector<int64_t> ends;
    for (const auto& [pass, end] : whole.ends) {
      if (end > 0 && end < total && (ends.empty() || ends.back() != end)) ends.push_back(end);
    }
    const auto departs_after = [&](int64_t n) {
      finding.probes.push_back(probe(n, limit, whole));
      return finding.probes.back().departs;
    };
    const BisectedRange range = bisected_range(ends, total, departs_after, options_.deadline);
    if (range.bad - range.good > 1) {
      result_.unfinished.push_back({side_.of_source(), range.good, range.bad, total, passes_of(whole, range)});
      return false;
    }
    describe(whole, range.good, all, &finding);
    return leave_out(whole.applied[range.good].key, limit, std::move(finding));
  }

  // Leaves out what restores the outputs, the rewrite alone or its pass, and keeps the finding.
  bool leave_out(const std::string& key, double limit, RewriteFinding finding) {
    LeftOut one = result_.left_out, pass = result_.left_out;
    if (!one.rewrites.insert(key).second) return false;  // applied although it was left out: it has several forms
    pass.passes.insert(finding.pass);
    const auto agrees_without = [&](const LeftOut& left_out) {
      const Rewritten graph = side_.rewritten_after(-1, left_out);
      return graph.error.empty() && !side_.departs(side_.worst(side_.interpreted(graph)), limit);
    };
    finding.restores = agrees_without(one);
    finding.pass_restores = finding.restores || agrees_without(pass);
    const LeftOut& next = finding.restores || !finding.pass_restores ? one : pass;
    finding.relabelled = relabelled_without(next);
    result_.left_out = next;
    result_.findings.push_back(std::move(finding));
    // Rounding of many rewrites adds up: one of them says as much as all.
    return result_.findings.back().kind != FaultKind::Rounding || result_.findings.back().pass_restores;
  }

  // Rewrite number good + 1: its place among the others, what it changed and how far it moves outputs.
  void describe(const Rewritten& whole, int64_t good, const WorstMovement& all, RewriteFinding* finding) const {
    const Rewritten::Applied& rewrite = whole.applied[good];
    finding->number = good + 1;
    finding->n_rewrites = static_cast<int64_t>(whole.applied.size());
    finding->pass = rewrite.pass;
    finding->reason = rewrite.reason;
    for (size_t i = 0; i < whole.applied.size(); ++i) {
      if (whole.applied[i].pass != rewrite.pass) continue;
      ++finding->n_in_pass;
      if (static_cast<int64_t>(i) <= good) ++finding->number_in_pass;
    }
    const Rewritten before = side_.rewritten_after(good, result_.left_out),
                    after = side_.rewritten_after(good + 1, result_.left_out);
    const std::vector<Outcome> outcomes_before = side_.interpreted(before), outcomes_after = side_.interpreted(after);
    const WorstMovement w = side_.worst(outcomes_after);
    finding->max_abs_before = side_.worst(outcomes_before).movement.max_abs;
    finding->max_abs_after = w.movement.max_abs;
    finding->largest = w.movement.max_abs > 0 ? w.movement.largest : all.movement.largest;
    finding->error = after.error;
    for (const Outcome& outcome : outcomes_after) {
      if (finding->error.empty()) finding->error = outcome.error;
    }
    describe_change(before.graph, after.graph, finding);
    if (!finding->error.empty()) {
      finding->kind = FaultKind::Breaks;
      return;
    }
    judge(before.graph, after.graph, worst_of(outcomes_before, outcomes_after, side_.tolerance()).movement, finding);
  }

  // Tells a wrong rewrite from one that rounds otherwise: in float64 one that only rounds otherwise moves nothing. `narrow` is how far it
  // moves the outputs in the side's own type.
  void judge(const Graph& before, const Graph& after, const Movement& narrow, RewriteFinding* finding) const {
    const bool integers =
        side_.side().compile.element != DType::Float64 &&
        std::all_of(side_.inputs().begin(), side_.inputs().end(),
                    [&](const std::vector<Tensor>& inputs) { return rounds_integers(before, after, inputs); });
    std::vector<Outcome> wide_before, wide_after;
    for (const std::vector<Tensor>& inputs : side_.inputs()) {
      const std::vector<Tensor> wide = in_float64(inputs);
      wide_before.push_back(outcome_of([&] { return interpret(widen_to_float64(before), wide); }));
      wide_after.push_back(outcome_of([&] { return interpret(widen_to_float64(after), wide); }));
    }
    const auto runs = [](const Outcome& outcome) { return outcome.error.empty(); };
    if (!std::all_of(wide_before.begin(), wide_before.end(), runs) ||
        !std::all_of(wide_after.begin(), wide_after.end(), runs)) {
      finding->max_abs_float64 = std::numeric_limits<double>::quiet_NaN();
      const bool large = narrow.max_abs > kRoundingOfKernel * narrow.largest;
      finding->kind = large && !integers ? FaultKind::Wrong : FaultKind::Rounding;
      return;
    }
    finding->max_abs_float64 = worst_of(wide_before, wide_after, side_.tolerance()).movement.max_abs;
    const double rounds = std::max(kRoundedShare * narrow.max_abs, kRounding * narrow.largest);
    finding->kind = integers || finding->max_abs_float64 <= rounds ? FaultKind::Rounding : FaultKind::Wrong;
  }

  // Labels that leaving `left_out` out changes, on the device, over samples that differ.
  std::vector<SampleMovement> relabelled_without(const LeftOut& left_out) const {
    SideRun with(side_.model(), side_.side(), result_.left_out), without(side_.model(), side_.side(), left_out);
    std::vector<SampleMovement> found;
    for (size_t k = 0; k < std::min(differing_.size(), kMostLabelSamples); ++k) {
      const std::vector<Tensor>& inputs = side_.samples()[differing_[k]].inputs;
      const Outcome a = without.run(inputs), b = with.run(inputs);
      if (!a.error.empty() || !b.error.empty()) continue;
      const Movement m = movement(a, b, side_.tolerance());
      if (m.relabelled()) found.push_back({differing_[k], m});
    }
    return found;
  }

  const SearchedSide& side_;
  const std::vector<size_t>& differing_;  // samples
  const BisectOptions& options_;
  RewriteSearch result_;
};

}  // namespace

BisectedRange bisected_range(const std::vector<int64_t>& ends, int64_t total,
                             const std::function<bool(int64_t n)>& departs, const Deadline& deadline) {
  BisectedRange range = {0, total};
  for (size_t first = 0, last = ends.size(); first < last && !deadline.stops();) {
    const size_t middle = first + (last - first) / 2;
    if (departs(ends[middle])) {
      range.bad = ends[middle];
      last = middle;
    } else {
      range.good = ends[middle];
      first = middle + 1;
    }
  }
  while (range.bad - range.good > 1 && !deadline.stops()) {
    const int64_t middle = range.good + (range.bad - range.good) / 2;
    (departs(middle) ? range.bad : range.good) = middle;
  }
  return range;
}

RewriteSearch search_rewrites(const SearchedSide& side, const std::vector<size_t>& differing,
                              const BisectOptions& options) {
  return RewriteSearcher(side, differing, options).run();
}

}  // namespace dnn
