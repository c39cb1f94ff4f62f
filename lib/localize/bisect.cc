// Bisecting rewrites and kernels; see bisect.h.
#include "localize/bisect.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "interp/interpreter.h"
#include "localize/kernel_errors.h"
#include "localize/rewrites.h"
#include "localize/side_run.h"
#include "ops/op.h"
#include "ops/quantization.h"

namespace dnn {
namespace {

constexpr double kRunShare = 1.0 / 3;       // of the time, where that is limited: for running both sides
constexpr double kShare = 0.1;              // of the whole movement: what is searched for first
constexpr double kRounding = 32 * 0x1p-23;  // of an output: what constants rounded to float32 may move it by
constexpr double kRoundingOfKernel = 1e-4;  // of the largest value: what blocked sums and short exponentials may
constexpr double kMovedIntegers = 0.05;     // of all: what sums that round otherwise may move by a step
constexpr size_t kMostRounding = 3;         // kernels that are told of when all of them just round
constexpr size_t kMostLabelSamples = 32;    // that a finding's labels are looked at in

// The largest excess of several samples' movements, and that movement.
struct Worst {
  Movement movement;
  bool relabelled = false;
};

Worst worst_of(const std::vector<Outcome>& first, const std::vector<Outcome>& other, const OutputTolerance& tolerance) {
  Worst worst;
  for (size_t i = 0; i < first.size(); ++i) {
    const Movement m = dnn::movement(first[i], other[i], tolerance);
    worst.relabelled = worst.relabelled || m.relabelled();
    if (i == 0 || m.excess > worst.movement.excess) worst.movement = m;
  }
  return worst;
}

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

// Searches one side.
class BisectSearch {
 public:
  BisectSearch(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& side, bool of_source,
               const BisectOptions& options, BisectReport* report)
      : model_(model), samples_(samples), side_(side), of_source_(of_source), options_(options), report_(report) {
    for (size_t i : report->searched)
      inputs_.push_back(side.compile.element == DType::Float64 ? in_float64(samples[i].inputs) : samples[i].inputs);
    by_label_ = !report->beyond_tolerance;
    right_ = interpreted(rewritten(model, side.compile, 0, {}));
  }

  // Whether the side departs from the model as written, in what it gave for the searched samples.
  bool departs(const std::vector<Outcome>& outcomes) const { return departs(worst(outcomes), kLeast); }

  // Returns what is to be left out for the rewrites to agree.
  LeftOut search_rewrites() {
    LeftOut left_out;
    for (size_t n = 0; n < options_.max_findings && !options_.deadline.stops(); ++n) {
      const Rewritten whole = rewritten(model_, side_.compile, -1, left_out);
      const Worst all = worst(interpreted(whole));
      if (!departs(all, kLeast)) break;
      // Rewrites of a graph that breaks half-way are those before it, and the one that breaks it.
      if (!find_rewrite(whole, all, first_limit(all), &left_out)) break;
    }
    return left_out;
  }

  void search_kernels(const LeftOut& left_out) {
    if (side_.device.kind() == std::string_view("reference")) return;
    if (options_.deadline.stops()) return;
    const Rewritten whole = rewritten(model_, side_.compile, -1, left_out);
    SideRun device(model_, side_, left_out);
    if (!whole.error.empty() || !device.runs()) return;
    std::vector<size_t> ran;  // of the searched samples: those that both run, and can be traced
    std::vector<Outcome> expected, outcomes;
    const std::vector<Outcome> interpreted_all = interpreted(whole);
    for (size_t i = 0; i < interpreted_all.size(); ++i) {
      Outcome outcome = device.run(samples_[report_->searched[i]].inputs);
      if (!outcome.error.empty() || !interpreted_all[i].error.empty()) continue;
      ran.push_back(i);
      expected.push_back(interpreted_all[i]);
      outcomes.push_back(std::move(outcome));
    }
    const Worst all = worst_of(expected, outcomes, options_.tolerance);
    if (!departs(all, kLeast)) return;
    size_t most = 0;  // the one that departs most
    for (size_t i = 1; i < outcomes.size(); ++i) {
      if (differs(expected[i], outcomes[i]) > differs(expected[most], outcomes[most])) most = i;
    }
    find_kernels(whole, device, ran[most], expected[most], first_limit(all));
  }

  // Labels that leaving `left_out` out changes, on the device, over samples that differ.
  std::vector<SampleMovement> relabelled_without(const LeftOut& before, const LeftOut& left_out) {
    SideRun with(model_, side_, before), without(model_, side_, left_out);
    std::vector<SampleMovement> found;
    for (size_t i : differing_) {
      const Outcome a = without.run(samples_[i].inputs), b = with.run(samples_[i].inputs);
      if (!a.error.empty() || !b.error.empty()) continue;
      const Movement m = movement(a, b, options_.tolerance);
      if (m.relabelled()) found.push_back({i, m});
    }
    return found;
  }

  void set_differing(std::vector<size_t> samples) {
    samples.resize(std::min(samples.size(), kMostLabelSamples));
    differing_ = std::move(samples);
  }

 private:
  // Two sides that differ by more than the tolerance: one of them departs from what is right by at least half of it.
  static constexpr double kLeast = 0.5;

  // The excess that is searched for first; where the whole is infinite (NaN, or no run), all that is infinite.
  static double first_limit(const Worst& all) {
    return std::clamp(kShare * all.movement.excess, kLeast, std::numeric_limits<double>::max());
  }

  Worst worst(const std::vector<Outcome>& outcomes) const { return worst_of(right_, outcomes, options_.tolerance); }
  bool departs(const Worst& worst, double limit) const {
    return by_label_ ? worst.relabelled : worst.movement.excess > limit;
  }
  double differs(const Outcome& a, const Outcome& b) const {
    const Movement m = movement(a, b, options_.tolerance);
    return by_label_ && m.relabelled() ? std::numeric_limits<double>::infinity() : m.excess;
  }
  void note(const std::string& message) const {
    if (options_.note) options_.note(message);
  }

  std::vector<Outcome> interpreted(const Rewritten& graph) const {
    std::vector<Outcome> outcomes;
    for (const std::vector<Tensor>& inputs : inputs_) {
      outcomes.push_back(graph.error.empty() ? outcome_of([&] { return interpret(graph.graph, inputs); })
                                             : Outcome{{}, graph.error});
    }
    return outcomes;
  }

  Probe probe(int64_t n, const LeftOut& left_out, double limit, const Rewritten& whole) {
    Probe result;
    result.n_rewrites = n;
    for (const auto& [pass, end] : whole.ends) {
      if (end == n) result.after = pass;
    }
    const Rewritten graph = rewritten(model_, side_.compile, n, left_out);
    const Worst w = worst(interpreted(graph));
    result.max_abs = w.movement.max_abs;
    result.departs = departs(w, limit) || !graph.error.empty();
    result.error = graph.error;
    note(cat(n, " of ", whole.applied.size(), " rewrites",
             result.after.empty() ? "" : ", to the end of " + result.after, result.departs ? ": departs" : ": agrees"));
    return result;
  }

  bool find_rewrite(const Rewritten& whole, const Worst& all, double limit, LeftOut* left_out) {
    RewriteFinding finding;
    finding.of_source = of_source_;
    const auto total = static_cast<int64_t>(whole.applied.size());
    if (total == 0) return false;  // the interpreter itself does not run the model
    if (!whole.error.empty() && !rewritten(model_, side_.compile, 0, *left_out).error.empty())
      return false;  // a pass fails on its own; its error names it
    int64_t good = 0, bad = total;
    const auto ask = [&](int64_t n) {
      finding.probes.push_back(probe(n, *left_out, limit, whole));
      (finding.probes.back().departs ? bad : good) = n;
    };
    // Ends of passes first: each is a state that can be had by name.
    std::vector<int64_t> ends;
    for (const auto& [pass, end] : whole.ends) {
      if (end > 0 && end < total && (ends.empty() || ends.back() != end)) ends.push_back(end);
    }
    const Deadline& deadline = options_.deadline;
    for (size_t first = 0, last = ends.size(); first < last && !deadline.stops();) {
      const size_t middle = first + (last - first) / 2;
      ask(ends[middle]);
      (bad == ends[middle] ? last : first) = bad == ends[middle] ? middle : middle + 1;
    }
    while (bad - good > 1 && !deadline.stops()) ask(good + (bad - good) / 2);
    if (bad - good > 1) {
      UnfinishedSearch left = {of_source_, good, bad, total, {}};
      for (int64_t i = good; i < bad; ++i) {
        const std::string& pass = whole.applied[i].pass;
        if (left.passes.empty() || left.passes.back() != pass) left.passes.push_back(pass);
      }
      report_->unfinished.push_back(std::move(left));
      return false;
    }
    describe(whole, good, all, *left_out, &finding);

    const std::string key = whole.applied[bad - 1].key;
    LeftOut one = *left_out, pass = *left_out;
    if (!one.rewrites.insert(key).second) return false;  // applied although it was left out: it has several forms
    pass.passes.insert(finding.pass);
    const auto agrees_without = [&](const LeftOut& what) {
      const Rewritten graph = rewritten(model_, side_.compile, -1, what);
      return graph.error.empty() && !departs(worst(interpreted(graph)), limit);
    };
    finding.restores = agrees_without(one);
    finding.pass_restores = finding.restores || agrees_without(pass);
    const LeftOut& next = finding.restores || !finding.pass_restores ? one : pass;
    finding.relabelled = relabelled_without(*left_out, next);
    *left_out = next;
    report_->rewrites.push_back(std::move(finding));
    // Rounding of many rewrites adds up: one of them says as much as all.
    return report_->rewrites.back().kind != FaultKind::Rounding || report_->rewrites.back().pass_restores;
  }

  // What rewrite number good + 1 is and does.
  void describe(const Rewritten& whole, int64_t good, const Worst& all, const LeftOut& left_out,
                RewriteFinding* finding) {
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
    const Rewritten before = rewritten(model_, side_.compile, good, left_out),
                    after = rewritten(model_, side_.compile, good + 1, left_out);
    const std::vector<Outcome> outcomes_before = interpreted(before), outcomes_after = interpreted(after);
    const Worst w = worst(outcomes_after);
    finding->max_abs_before = worst(outcomes_before).movement.max_abs;
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
    const bool integers = side_.compile.element != DType::Float64 &&
                          std::all_of(inputs_.begin(), inputs_.end(), [&](const std::vector<Tensor>& inputs) {
                            return rounds_integers(before.graph, after.graph, inputs);
                          });
    // In float64 what only rounds otherwise moves nothing.
    std::vector<Outcome> wide_before, wide_after;
    for (const std::vector<Tensor>& inputs : inputs_) {
      const std::vector<Tensor> wide = in_float64(inputs);
      wide_before.push_back(outcome_of([&] { return interpret(widen_to_float64(before.graph), wide); }));
      wide_after.push_back(outcome_of([&] { return interpret(widen_to_float64(after.graph), wide); }));
    }
    const Worst wide = worst_of(wide_before, wide_after, options_.tolerance),
                narrow = worst_of(outcomes_before, outcomes_after, options_.tolerance);
    const auto runs = [](const Outcome& outcome) { return outcome.error.empty(); };
    if (!std::all_of(wide_before.begin(), wide_before.end(), runs) ||
        !std::all_of(wide_after.begin(), wide_after.end(), runs)) {
      finding->max_abs_float64 = std::numeric_limits<double>::quiet_NaN();
      const bool large = narrow.movement.max_abs > kRoundingOfKernel * narrow.movement.largest;
      finding->kind = large && !integers ? FaultKind::Wrong : FaultKind::Rounding;
      return;
    }
    finding->max_abs_float64 = wide.movement.max_abs;
    const double rounds = std::max(kShare * narrow.movement.max_abs, kRounding * narrow.movement.largest);
    finding->kind = integers || wide.movement.max_abs <= rounds ? FaultKind::Rounding : FaultKind::Wrong;
  }

  void find_kernels(const Rewritten& whole, SideRun& device, size_t sample, const Outcome& expected, double limit) {
    const Graph& graph = whole.graph;
    const std::vector<Tensor>& inputs = inputs_[sample];
    note("each kernel against the interpreter");
    const std::vector<KernelError> errors = kernel_errors(device.session(), graph, inputs);
    std::map<NodeId, const KernelError*> by_node;
    for (const KernelError& error : errors) by_node[error.node] = &error;
    // How far the errors of the nodes that `has` admits move the outputs.
    const auto moved_by = [&](const std::function<bool(NodeId)>& has) {
      const Outcome changed = outcome_of([&] {
        return interpret_changed(graph, inputs, [&](NodeId id, std::vector<Tensor>* outputs) {
          const auto found = by_node.find(id);
          if (found == by_node.end() || !has(id)) return;
          for (size_t i = 0; i < outputs->size(); ++i)
            (*outputs)[i] = added((*outputs)[i], found->second->difference[i]);
        });
      });
      return movement(expected, changed, options_.tolerance);
    };
    const auto counts = [&](const Movement& m) { return by_label_ ? m.relabelled() : m.excess > limit; };

    std::vector<const KernelError*> suspects;
    for (const KernelError& error : errors) {
      if (error.max_abs > options_.tolerance.atol + options_.tolerance.rtol * error.largest) suspects.push_back(&error);
    }
    const bool wrong = std::any_of(suspects.begin(), suspects.end(),
                                   [](const KernelError* e) { return e->relative() > kRoundingOfKernel; });
    const size_t most = wrong ? options_.max_findings : kMostRounding;
    if (wrong) {
      std::erase_if(suspects, [](const KernelError* e) { return e->relative() <= kRoundingOfKernel; });
    } else {  // rounding: those that round worst
      suspects.clear();
      for (const KernelError& error : errors) suspects.push_back(&error);
      std::stable_sort(suspects.begin(), suspects.end(),
                       [](const auto* a, const auto* b) { return a->relative() > b->relative(); });
    }
    suspects.resize(std::min(suspects.size(), 2 * options_.max_findings));
    std::vector<KernelFinding> findings;
    std::set<NodeId> found;
    for (const KernelError* suspect : suspects) {
      if (!findings.empty() && options_.deadline.stops()) break;
      const Movement m = moved_by([&](NodeId id) { return id == suspect->node; });
      if (!counts(m) || findings.size() == most) continue;
      found.insert(suspect->node);
      findings.push_back(describe(whole, device.session().variant(), *suspect, wrong, m));
      if (m.relabelled()) findings.back().relabelled.push_back({report_->searched[sample], m});
    }
    const Movement rest = moved_by([&](NodeId id) { return found.count(id) == 0; });
    for (KernelFinding& finding : findings) {
      finding.remaining_max_abs = rest.max_abs;
      finding.restores = !counts(rest);
      report_->kernels.push_back(std::move(finding));
    }
  }

  KernelFinding describe(const Rewritten& whole, const Variant& variant, const KernelError& error, bool wrong,
                         const Movement& moves) const {
    KernelFinding finding;
    const Node& node = whole.graph.node(error.node);
    finding.of_source = of_source_;
    finding.node = node_text(whole.graph, node);
    std::set<int32_t> own;
    for (const Step& step : variant.steps) {
      if (step.node != error.node || step.kernel < 0 || !own.insert(step.kernel).second) continue;
      finding.kernels.push_back(variant.kernels[step.kernel].name);
      finding.patterns.push_back(variant.kernels[step.kernel].pattern);
    }
    std::set<NodeId> others;
    for (const Step& step : variant.steps) {
      if (step.node == error.node || own.count(step.kernel) == 0 || !others.insert(step.node).second) continue;
      finding.shared_with.push_back(called(node_text(whole.graph, whole.graph.node(step.node))));
    }
    int slots = model_.node_slots();
    for (const Rewritten::Applied& rewrite : whole.applied) {
      if (error.node >= slots && error.node < rewrite.node_slots)
        finding.rewrite = rewrite.pass + ": " + rewrite.reason;
      slots = rewrite.node_slots;
    }
    const Value& value = whole.graph.value(node.outputs[error.output]);
    finding.layout = value.layout;
    finding.value = value.name;
    finding.kind = wrong ? FaultKind::Wrong : FaultKind::Rounding;
    finding.max_abs = error.max_abs;
    finding.largest = error.largest;
    finding.at = error.at;
    finding.expected = error.expected;
    finding.got = error.got;
    finding.output_max_abs = moves.max_abs;
    return finding;
  }

  static std::string called(const NodeText& node) {
    if (!node.name.empty()) return node.name;
    return node.values.empty() ? node.op : node.values[0];
  }

  const Graph& model_;
  const std::vector<BisectSample>& samples_;
  const BisectSide& side_;
  const bool of_source_;
  const BisectOptions& options_;
  BisectReport* report_;
  std::vector<std::vector<Tensor>> inputs_;  // of the searched samples, in the side's type
  std::vector<Outcome> right_;               // what the model as written gives for them
  std::vector<size_t> differing_;            // samples
  bool by_label_ = false;
};

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
  BisectReport report;
  if (samples.empty()) throw Error(ErrorKind::Negative, "there is no sample to run");
  std::vector<Outcome> right, doubted;
  {
    SideRun a(model, source, {}), b(model, target, {});
    report.source_error = a.error();
    report.target_error = b.error();
    const Deadline share = options.deadline.until(kRunShare);
    for (const BisectSample& sample : samples) {
      if (!right.empty() && share.stops()) break;
      right.push_back(a.run(sample.inputs));
      doubted.push_back(b.run(sample.inputs));
    }
  }
  report.n_samples = right.size();
  std::vector<size_t> order;
  std::vector<Movement> movements;
  for (size_t i = 0; i < right.size(); ++i) {
    const Movement m = movement(right[i], doubted[i], options.tolerance);
    if (report.source_error.empty()) report.source_error = right[i].error;
    if (report.target_error.empty()) report.target_error = doubted[i].error;
    if (m.max_abs > report.max_abs) {
      report.max_abs = m.max_abs;
      report.largest = m.largest;
    }
    report.beyond_tolerance =
        report.beyond_tolerance || m.excess > 1 || !right[i].error.empty() || !doubted[i].error.empty();
    if (m.relabelled()) report.relabelled.push_back({i, m});
    if (m.relabelled() || m.excess > 1) order.push_back(i);
    if (i > 0 && m.excess > movements[report.differs_most].excess) report.differs_most = i;
    movements.push_back(m);
  }
  if (report.beyond_tolerance && order.empty()) order.push_back(0);  // neither side runs
  report.ran_out = options.deadline.ran_out();
  if (!report.differs()) return report;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (movements[a].relabelled() != movements[b].relabelled()) return movements[a].relabelled();
    return movements[a].excess > movements[b].excess;
  });
  report.searched.assign(order.begin(),
                         order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), options.n_searched)));

  LeftOut left_out[2];
  for (const bool of_source : {false, true}) {
    const BisectSide& side = of_source ? source : target;
    if (side.as_it_is != nullptr) continue;
    BisectSearch search(model, samples, side, of_source, options, &report);
    search.set_differing(order);
    std::vector<Outcome> outcomes;
    for (size_t i : report.searched) outcomes.push_back(of_source ? right[i] : doubted[i]);
    const bool departs = search.departs(outcomes);
    (of_source ? report.source_departs : report.target_departs) = departs;
    if (!departs) continue;
    left_out[of_source ? 1 : 0] = search.search_rewrites();
    search.search_kernels(left_out[of_source ? 1 : 0]);
  }

  const bool searched = source.as_it_is == nullptr && target.as_it_is == nullptr && !report.rewrites.empty();
  if (searched) report.after = without(model, samples, right.size(), source, target, left_out, options);
  report.ran_out = options.deadline.ran_out();
  return report;
}

}  // namespace dnn
