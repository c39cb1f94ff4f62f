// Telling bounds apart; see latent.h.
#include "localize/latent.h"

#include <algorithm>
#include <set>
#include <string>

#include "localize/attributes.h"
#include "localize/own_error.h"
#include "localize/pair_nodes.h"
#include "localize/relation.h"

namespace dnn {
namespace {

using Ops = std::set<std::string, std::less<>>;

constexpr double kBeyond[] = {16, -16};  // times the samples' activations
constexpr double kParts = 1e-2;          // of the largest magnitude: more than a step of a quantised range

bool is_activation(const Node& node) {
  static const Ops kOps = {"Relu", "Clip", "LeakyRelu",       "PRelu",       "Elu",
                           "Selu", "Celu", "ThresholdedRelu", "HardSigmoid", "HardSwish"};
  return node.domain.empty() && kOps.count(node.op) != 0;
}

// Whether the value is within bounds already, so that another bound may be left out rightly.
bool is_bounded(const Graph& graph, const Uses& uses, ValueId v) {
  static const Ops kBounded = {"Sigmoid", "Softmax", "Tanh", "HardSigmoid", "Clip", "Relu", "DequantizeLinear"};
  static const Ops kKeeping = {"AveragePool", "GlobalAveragePool", "MaxPool",    "GlobalMaxPool",
                               "Reshape",     "Flatten",           "Transpose",  "Squeeze",
                               "Unsqueeze",   "Identity",          "ReduceMean", "Dropout"};
  static const Ops kJoining = {"Add", "Mul", "Sum", "Concat", "Max", "Min"};
  while (v != kNoValue) {
    const NodeId maker = uses.producer[v];
    if (maker < 0) return false;
    if (kBounded.count(graph.node(maker).op) != 0) return true;
    if (kJoining.count(graph.node(maker).op) != 0) {
      const std::vector<ValueId>& inputs = graph.node(maker).inputs;
      return std::all_of(inputs.begin(), inputs.end(), [&](ValueId in) {
        return in != kNoValue && (graph.constant(in) != nullptr || is_bounded(graph, uses, in));
      });
    }
    if (kKeeping.count(graph.node(maker).op) == 0) return false;
    v = graph.node(maker).input(0);
  }
  return false;
}

Tensor scaled(const Tensor& tensor, double scale) {
  if (!is_float(tensor.dtype())) return tensor;
  std::vector<double> values = to_doubles(tensor);
  for (double& x : values) x *= scale;
  return convert(Tensor::of<double>(tensor.shape(), values), tensor.dtype());
}

bool parameters_differ(const Graph& source, const Node& a, const Graph& target, const Node& b) {
  if (!attribute_differences(source, a, target, b).empty()) return true;
  for (size_t i = 1; i < std::max(a.inputs.size(), b.inputs.size()); ++i) {
    const Tensor *left = source.constant(a.input(i)), *right = target.constant(b.input(i));
    if ((left == nullptr) != (right == nullptr)) return true;
    if (left != nullptr && !constant_relation(*left, *right).empty()) return true;
  }
  return false;
}

}  // namespace

bool bounds_differ(const Graph& source, const Segment& a, const Graph& target, const Segment& b) {
  const Uses source_uses(source), target_uses(target);
  for (const auto& [ours, theirs] : pair_nodes(source, a.nodes, target, b.nodes)) {
    if (ours >= 0 && theirs >= 0) {
      const Node &x = source.node(ours), &y = target.node(theirs);
      if (is_activation(x) && parameters_differ(source, x, target, y)) return true;
      continue;
    }
    const Graph& graph = ours >= 0 ? source : target;
    const Node& node = graph.node(ours >= 0 ? ours : theirs);
    if (is_activation(node) && !is_bounded(graph, ours >= 0 ? source_uses : target_uses, node.input(0))) return true;
  }
  return false;
}

// Segments that are right on the sample, whose bounds differ, and which part beyond the sample's activations.
void OwnErrors::find_latent(const NamedTensors& values) {
  for (size_t j : in_target_order()) {
    OwnError& r = results_[j];
    if (r.wrong() || r.identical || r.source.open || r.target.open || r.source.nodes.empty()) continue;
    if (r.source.inputs != r.target.inputs) continue;  // values that depend on each other cannot be scaled alike
    if (!bounds_differ(source_, r.source, target_, r.target) || options_.deadline.stops()) continue;
    for (const double scale : kBeyond) {
      NamedTensors beyond = values;
      for (size_t from : r.target.inputs) {
        const auto known = beyond.find(source_.value(results_[from].joint.source).name);
        if (known != beyond.end()) known->second = scaled(known->second, scale);
      }
      try {
        const Tensor ours = run(source_, ends(true), r.source, beyond, true, true);
        const Tensor theirs = run(target_, ends(false), r.target, beyond, false, true);
        if (ours.size() != theirs.size()) break;
        r.latent = r.latent || part_of_largest(compare(ours, reordered(theirs, r.joint.order, ours.shape()))) > kParts;
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
        break;
      }
    }
  }
}

Trial OwnErrors::try_beyond(const Graph& target, size_t joint, size_t kept) const {
  Trial worst;
  for (const double scale : kBeyond) {
    try {
      Isolated isolated = isolate(target, joint, kept);
      for (Tensor& input : isolated.source_inputs) input = scaled(input, scale);
      for (Tensor& input : isolated.target_inputs) input = scaled(input, scale);
      Trial trial = try_isolated(isolated, Tensor());
      if (!trial.failure.empty()) return trial;
      if (worst.bound == 0 || trial.certainty() > worst.certainty()) worst = std::move(trial);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Malformed && e.kind() != ErrorKind::Unsupported) throw;
      worst.failure = e.what();
      return worst;
    }
  }
  return worst;
}

}  // namespace dnn
