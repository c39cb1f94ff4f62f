// Searching kernels; see kernel_search.h.
#include "localize/kernel_search.h"

#include <algorithm>
#include <map>
#include <set>

namespace dnn {
namespace {

constexpr size_t kMostRounding = 3;  // kernels that are told of when all of them just round

std::string node_called(const NodeText& node) {
  if (!node.name.empty()) return node.name;
  return node.values.empty() ? node.op : node.values[0];
}

// The finding of a kernel whose error moves the outputs so far.
KernelFinding kernel_finding(const SearchedSide& side, const Rewritten& whole, const Variant& variant,
                             const KernelError& error, bool wrong, const Movement& moves) {
  KernelFinding finding;
  const Node& node = whole.graph.node(error.node);
  finding.of_source = side.of_source();
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
    finding.shared_with.push_back(node_called(node_text(whole.graph, whole.graph.node(step.node))));
  }
  int slots = side.model().node_slots();
  for (const Rewritten::Applied& rewrite : whole.applied) {
    if (error.node >= slots && error.node < rewrite.node_slots) finding.rewrite = rewrite.pass + ": " + rewrite.reason;
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

// The kernels' errors in one sample, each alone and together, by how far they move the outputs.
class KernelMovements {
 public:
  // All are kept by reference. `expected` are the outputs without any error.
  KernelMovements(const Graph& graph, const std::vector<Tensor>& inputs, const Outcome& expected,
                  const OutputTolerance& tolerance, const std::vector<KernelError>& errors)
      : graph_(graph), inputs_(inputs), expected_(expected), tolerance_(tolerance) {
    for (const KernelError& error : errors) by_node_[error.node] = &error;
  }

  // How far the errors of the nodes that `has` admits move the outputs.
  Movement of(const std::function<bool(NodeId)>& has) const {
    const Outcome changed = outcome_of([&] {
      return interpret_changed(graph_, inputs_, [&](NodeId id, std::vector<Tensor>* outputs) {
        const auto found = by_node_.find(id);
        if (found == by_node_.end() || !has(id)) return;
        for (size_t i = 0; i < outputs->size(); ++i) (*outputs)[i] = added((*outputs)[i], found->second->difference[i]);
      });
    });
    return movement(expected_, changed, tolerance_);
  }

 private:
  const Graph& graph_;
  const std::vector<Tensor>& inputs_;
  const Outcome& expected_;
  const OutputTolerance& tolerance_;
  std::map<NodeId, const KernelError*> by_node_;
};

// `sample` is one of the searched ones, which the interpreter gives `expected` for.
std::vector<KernelFinding> find_kernels(const SearchedSide& side, const Rewritten& whole, Session& session,
                                        size_t sample, const Outcome& expected, double limit,
                                        const BisectOptions& options) {
  const std::vector<Tensor>& inputs = side.inputs()[sample];
  if (options.note) options.note("each kernel against the interpreter");
  const std::vector<KernelError> errors = kernel_errors(session, whole.graph, inputs);
  const KernelMovements movements(whole.graph, inputs, expected, side.tolerance(), errors);
  const auto counts = [&](const Movement& m) { return side.by_label() ? m.relabelled() : m.excess > limit; };
  const KernelSuspects suspects = kernel_suspects(errors, side.tolerance(), 2 * options.max_findings);
  const size_t most = suspects.wrong ? options.max_findings : kMostRounding;
  std::vector<KernelFinding> findings;
  std::set<NodeId> found;
  for (const KernelError* suspect : suspects.errors) {
    if (!findings.empty() && options.deadline.stops()) break;
    const Movement m = movements.of([&](NodeId id) { return id == suspect->node; });
    if (!counts(m) || findings.size() == most) continue;
    found.insert(suspect->node);
    findings.push_back(kernel_finding(side, whole, session.variant(), *suspect, suspects.wrong, m));
    if (m.relabelled()) findings.back().relabelled.push_back({side.searched()[sample], m});
  }
  const Movement rest = movements.of([&](NodeId id) { return found.count(id) == 0; });
  for (KernelFinding& finding : findings) {
    finding.remaining_max_abs = rest.max_abs;
    finding.restores = !counts(rest);
  }
  return findings;
}

}  // namespace

KernelSuspects kernel_suspects(const std::vector<KernelError>& errors, const OutputTolerance& tolerance, size_t most) {
  KernelSuspects suspects;
  for (const KernelError& error : errors) {
    if (error.max_abs > tolerance.atol + tolerance.rtol * error.largest) suspects.errors.push_back(&error);
  }
  suspects.wrong = std::any_of(suspects.errors.begin(), suspects.errors.end(),
                               [](const KernelError* e) { return e->relative() > kRoundingOfKernel; });
  if (suspects.wrong) {
    std::erase_if(suspects.errors, [](const KernelError* e) { return e->relative() <= kRoundingOfKernel; });
  } else {
    suspects.errors.clear();
    for (const KernelError& error : errors) suspects.errors.push_back(&error);
    std::stable_sort(suspects.errors.begin(), suspects.errors.end(),
                     [](const auto* a, const auto* b) { return a->relative() > b->relative(); });
  }
  suspects.errors.resize(std::min(suspects.errors.size(), most));
  return suspects;
}

std::vector<KernelFinding> search_kernels(const SearchedSide& side, const LeftOut& left_out,
                                          const BisectOptions& options) {
  if (side.side().device.kind() == std::string_view("reference") || options.deadline.stops()) return {};
  const Rewritten whole = side.rewritten_after(-1, left_out);
  SideRun device(side.model(), side.side(), left_out);
  if (!whole.error.empty() || !device.runs()) return {};
  std::vector<size_t> ran;  // of the searched samples: those that both run, and can be traced
  std::vector<Outcome> expected, outcomes;
  const std::vector<Outcome> interpreted = side.interpreted(whole);
  for (size_t i = 0; i < interpreted.size(); ++i) {
    Outcome outcome = device.run(side.samples()[side.searched()[i]].inputs);
    if (!outcome.error.empty() || !interpreted[i].error.empty()) continue;
    ran.push_back(i);
    expected.push_back(interpreted[i]);
    outcomes.push_back(std::move(outcome));
  }
  const WorstMovement all = worst_of(expected, outcomes, side.tolerance());
  if (!side.departs(all)) return {};
  size_t most = 0;  // the one that departs most
  for (size_t i = 1; i < outcomes.size(); ++i) {
    if (side.differs(expected[i], outcomes[i]) > side.differs(expected[most], outcomes[most])) most = i;
  }
  return find_kernels(side, whole, device.session(), ran[most], expected[most], SearchedSide::first_limit(all),
                      options);
}

}  // namespace dnn
